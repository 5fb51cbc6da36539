package import FeedimgModel

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
