import FeedimgModel

/// Reads the common form of policy, promise and case tables: facts, an arrow, outcomes.
struct TableReader {
  /// The meaning of a column.
  enum Column: Equatable {
    case fact(Fact)
    /// A column right of the arrow, by its name.
    case outcome(String)
    /// Another column that the caller named; or a mistake, already reported.
    case other(String)
  }

  let columns: [Column]
  private let table: MarkdownTable

  /// Reads the header, with facts and others left of the arrow, and outcomes right of it.
  init(
    _ table: MarkdownTable,
    facts catalog: FactCatalog,
    outcomes: [String],
    others: [String] = [],
    problems: inout ProblemList
  ) {
    self.table = table
    let line = table.header.line
    var columns: [Column] = []
    var names: [String] = []
    var isRightOfArrow = false
    for cell in table.header.cells {
      let (name, hasArrow) = Self.name(cell.text)
      isRightOfArrow = isRightOfArrow || hasArrow
      let column = Self.column(name, isRightOfArrow ? outcomes : nil, others, catalog)
      if column != nil {
        let label = isRightOfArrow ? "→ " + name : name
        if names.contains(label) {
          problems.add(line: line, column: cell.column, "column `\(name)` appears twice")
        }
        names.append(label)
      } else {
        let kind = isRightOfArrow ? "outcome" : "fact"
        let known = isRightOfArrow ? outcomes : catalog.facts.map(\.name) + others
        problems.add(
          line: line,
          column: cell.column,
          name.isEmpty ? "a column has no name" : "unknown \(kind) \(name.quoted)",
          suggestion: Spelling.nearest(to: name, among: known)
        )
      }
      columns.append(column ?? .other(""))
    }
    self.columns = columns
    if !isRightOfArrow {
      let example = outcomes.first ?? ""
      problems.add(line: line, "no column begins with `→`, expected one such as `→ \(example)`")
    }
    if table.isCut {
      problems.add(line: line, "the table has more than \(MarkdownTable.maximumRowCount) rows")
    }
    let dashes = table.delimiter.cells.count
    if dashes != columns.count {
      let shown = "\(dashes) \(dashes == 1 ? "cell" : "cells")"
      problems.add(
        line: table.delimiter.line,
        "the row of dashes has \(shown), the header has \(columns.count)"
      )
    }
  }

  /// Calls `body` for each row that has as many cells as the header, with the row's number counted from one.
  func forEachRow(
    problems: inout ProblemList,
    _ body: (Int, MarkdownTable.Row, inout ProblemList) -> Void
  ) {
    for (index, row) in table.rows.enumerated() {
      guard !problems.isFull else { return }
      guard row.cells.count == columns.count else {
        problems.add(
          line: row.line,
          "the row has \(row.cells.count) \(row.cells.count == 1 ? "cell" : "cells"),"
            + " the header has \(columns.count)"
        )
        continue
      }
      body(index + 1, row, &problems)
    }
  }

  /// Calls `body` for each such row, whose outcomes are parts of a decision.
  func forEachExpectation(
    problems: inout ProblemList,
    _ body: (Int, MarkdownTable.Row, [Condition], [Expectation]) -> Void
  ) {
    forEachRow(problems: &problems) { number, row, problems in
      let conditions = conditions(in: row, problems: &problems)
      body(number, row, conditions, expectations(in: row, problems: &problems))
    }
  }

  /// The conditions of a row, in the order of facts.
  ///
  /// Reports those that it cannot read.
  func conditions(in row: MarkdownTable.Row, problems: inout ProblemList) -> [Condition] {
    zip(columns, row.cells).compactMap { column, cell in
      guard case .fact(let fact) = column else { return nil }
      return problems.read(cell, line: row.line) { text throws(FactError) in
        try Condition.read(text, of: fact)
      }
    }
    .sorted { $0.fact < $1.fact }
  }

  /// The expectations of a row, whose outcomes are parts of a decision.
  ///
  /// Reports those that it cannot read.
  private func expectations(in row: MarkdownTable.Row, problems: inout ProblemList) -> [Expectation] {
    zip(columns, row.cells).compactMap { column, cell in
      guard case .outcome(let name) = column, let part = DecisionPart(rawValue: name) else { return nil }
      return problems.read(cell, line: row.line) { text throws(FactError) in
        try Expectation.read(text, of: part)
      }
    }
  }

  /// The name of a column in single spaces, and whether an arrow precedes it.
  private static func name(_ text: String) -> (name: String, hasArrow: Bool) {
    let arrow = ["→", "->"].first { text.hasPrefix($0) }
    return (text.dropFirst(arrow?.count ?? 0).singleSpaced, arrow != nil)
  }

  private static func column(
    _ name: String,
    _ outcomes: [String]?,
    _ others: [String],
    _ catalog: FactCatalog
  ) -> Column? {
    if let outcomes { return outcomes.contains(name) ? .outcome(name) : nil }
    if others.contains(name) { return .other(name) }
    return catalog.facts.first { $0.name == name }.map { .fact($0) }
  }
}
