package import FeedimgModel

/// A part of a decision that promises and test cases can speak of; a column right of the arrow.
package enum DecisionPart: String, Sendable, Hashable, CaseIterable {
  case show
  case load
  case image
  case source
  case upgrade
  case priority
  case rule

  /// The words that the part can be; nil for a rule's number.
  package var words: [String]? {
    switch self {
    case .show, .image: ShownImage.allCases.map(\.rawValue)
    case .load: ImageVariant.Role.allCases.map(\.rawValue) + ["nothing"]
    case .source: ImageSource.allCases.map(\.rawValue)
    case .upgrade: Upgrade.allCases.map(\.rawValue)
    case .priority: Urgency.allCases.map(\.rawValue)
    case .rule: nil
    }
  }

  /// What the part is in a decision, such as `nothing` for its load.
  package func value(in decision: Decision) -> String {
    switch self {
    case .show: decision.show.rawValue
    case .load: decision.load?.rawValue ?? "nothing"
    case .image: decision.image.rawValue
    case .source: decision.source.rawValue
    case .upgrade: decision.upgrade.rawValue
    case .priority: decision.urgency.rawValue
    case .rule: String(decision.rule)
    }
  }
}

/// What a promise or a test case expects of a part of a decision.
package struct Expectation: Sendable, Hashable {
  package let part: DecisionPart
  /// What the cell lists.
  let values: [String]
  /// Whether the part must be none of ``values`` rather than one of them.
  let isNegated: Bool
  /// The cell as it stands, with single spaces.
  package let text: String

  package func holds(for decision: Decision) -> Bool {
    values.contains(part.value(in: decision)) != isNegated
  }

  /// Reads a cell: `-`, `a`, `a, b` or `not a`.
  ///
  /// - Returns: nil for `-`.
  /// - Throws: ``CellError`` for the first thing that is wrong.
  static func read(_ cell: String, of part: DecisionPart) throws(CellError) -> Expectation? {
    guard cell != "-" else { return nil }
    guard !cell.isEmpty else { throw CellError(message: "empty cell, write `-` to expect nothing") }
    let isNegated = cell.hasPrefix("not ")
    let values = cell.dropFirst(isNegated ? 4 : 0).listed
    for value in values { try check(value, of: part) }
    let text = (isNegated ? "not " : "") + values.joined(separator: ", ")
    return Expectation(part: part, values: values, isNegated: isNegated, text: text)
  }

  private static func check(_ value: String, of part: DecisionPart) throws(CellError) {
    guard let words = part.words else {
      guard let number = Int(value), number > 0, String(number) == value else {
        throw CellError(message: "rule has no number \(value.quoted)")
      }
      return
    }
    guard !words.contains(value) else { return }
    let near = Spelling.nearest(to: value, among: words)
    let expected = near == nil ? ", expected \(words.joined(separator: ", "))" : ""
    throw CellError(message: "\(part.rawValue) is never \(value.quoted)\(expected)", suggestion: near)
  }
}
