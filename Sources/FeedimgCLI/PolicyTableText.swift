/// The decisions of a policy as text.
enum PolicyTableText {
  /// A table or, if it would be too wide, a paragraph for each row.
  ///
  /// - Parameters:
  ///   - rows: The names of the columns, then the cells of each row.
  ///   - width: The most characters of a line; nil for no limit.
  /// - Returns: The lines; none if there are no rows.
  static func lines(_ rows: [[String]], width: Int?) -> [String] {
    guard let header = rows.first else { return [] }
    let table = Columns(rows, width: width).lines
    let widest = table.joined(separator: "\n").split(separator: "\n").map(\.count).max() ?? 0
    guard let width, widest > width else {
      return table.enumerated().map { $0 == 0 ? Output.bold($1) : $1 }
    }
    // The columns of the decision start with this one.
    let decided = header.firstIndex(of: "show now") ?? 0
    return rows.dropFirst().flatMap { row in
      let cells = Array(zip(header, row))
      let facts = cells[..<decided].filter { $0.1 != "-" }.map { "\($0) \($1)" }
      let outcome = cells[decided...].map { "\($0) \($1)" }.joined(separator: ", ")
      let when = facts.isEmpty ? "always" : facts.joined(separator: "; ")
      return WrappedText.lines(when, width: width, indent: "    ").map(Output.bold)
        + WrappedText.lines("  → " + outcome, width: width, indent: "    ")
    }
  }
}
