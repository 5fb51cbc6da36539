package import FeedimgModel

/// What one cell of a table asks of one fact; a cell with `-` asks nothing and is no condition.
package struct Condition: Sendable, Hashable {
  package let fact: Fact
  /// What the cell lists.
  let regions: [Region]
  /// Whether the fact must be none of ``regions`` rather than one of them.
  let isNegated: Bool
  /// The quantities that the cell mentions.
  let thresholds: [Threshold]
  /// The cell with single spaces, such as `wifi, ethernet` or `< 20 MB`.
  package let text: String

  /// Whether the condition holds in all of a region that is cut at ``thresholds``.
  package func holds(in region: Region) -> Bool {
    regions.contains { $0.contains(region) } != isNegated
  }

  /// Whether the condition holds in a situation; the plain meaning that compiled policies must agree with.
  package func holds(in situation: Situation) -> Bool {
    let value: Region =
      switch fact.domain {
      case .words: .word(fact.ordinal(in: situation))
      case .quantity: fact.quantity(in: situation).map { .quantities($0...$0) } ?? .unknown
      }
    return holds(in: value)
  }

  /// The condition said of a situation in which it holds, such as `network is wifi`.
  func statement(in situation: Situation) -> String { "\(fact.name) is \(fact.value(in: situation))" }
}
