import FeedimgModel

/// A table of cases that covers every state of a policy: what it decides today, to be compared with tomorrow.
package struct GoldenTable {
  private let table: DecisionTable

  /// - Throws: ``PolicyErrors`` where there are too many states.
  package init(_ table: PolicyTable) throws(PolicyErrors) { self.table = try DecisionTable(table) }

  /// The text of a `NAME.golden.md`, which ``PolicyCases`` reads.
  ///
  /// The same policy always gives the same text, so that a difference between versions is a difference in what
  /// the policy decides, or in which rule does.
  package var markdown: String {
    let header =
      table.facts.map(\.name) + ["→ image", "source", "show", "load", "upgrade", "priority", "rule"]
    let rows = table.rows.map { row in
      row.facts
        + [DecisionPart.image, .source, .show, .load, .upgrade, .priority, .rule].map {
          $0.value(in: row.decision)
        }
    }
    return """
      # What \(table.name) decides

      Recorded by `feedimg policy test --record`: every state, each in one row. Record again after a change that
      was meant, and read the difference.

      \(Self.aligned([header] + rows))
      """
  }

  /// A table whose first row is the header, with columns of even width.
  private static func aligned(_ rows: [[String]]) -> String {
    let columns = rows.first?.indices ?? 0..<0
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      let cells = columns.map { row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count) }
      return "| " + cells.joined(separator: " | ") + " |"
    }
    let dashes = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return (lines.prefix(1) + [dashes] + lines.dropFirst()).map { $0 + "\n" }.joined()
  }
}
