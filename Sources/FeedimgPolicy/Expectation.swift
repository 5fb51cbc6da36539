package import FeedimgModel

/// The value that a promise or a case expects of a part of a decision.
package struct Expectation: Sendable, Hashable {
  package let part: DecisionPart
  /// The values that the cell lists.
  let values: [String]
  /// Whether the part must be none of ``values``, rather than one of them.
  let isNegated: Bool
  /// The cell with single spaces.
  package let text: String

  package func holds(for decision: Decision) -> Bool {
    values.contains(part.value(in: decision)) != isNegated
  }

  /// Reads a cell: `-`, `a`, `a, b` or `not a`; nil for `-`.
  static func read(_ cell: String, of part: DecisionPart) throws(FactError) -> Expectation? {
    guard cell != "-" else { return nil }
    guard !cell.isEmpty else { throw FactError(message: "empty cell, write `-` to accept any value") }
    let isNegated = cell.hasPrefix("not ")
    let values = cell.dropFirst(isNegated ? 4 : 0).listed
    for value in values { try check(value, of: part) }
    let text = (isNegated ? "not " : "") + values.joined(separator: ", ")
    return Expectation(part: part, values: values, isNegated: isNegated, text: text)
  }

  private static func check(_ value: String, of part: DecisionPart) throws(FactError) {
    guard let words = part.words else {
      guard let number = Int(value), number > 0, String(number) == value else {
        throw FactError(message: "\(value.quoted) is not the number of a rule")
      }
      return
    }
    if !words.contains(value) { throw FactError(noValue: value, of: part.rawValue, among: words) }
  }
}
