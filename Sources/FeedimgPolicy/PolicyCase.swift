import FeedimgModel

/// One row of a table of cases: what a policy must decide wherever the row's conditions hold.
package struct PolicyCase: Sendable, Hashable {
  /// In the author's words; empty where the table has no column `case`.
  package let name: String
  /// Where the row stands, counted from one.
  package let line: Int
  package let conditions: [Condition]
  package let expectations: [Expectation]
}

/// The cases of a `NAME.tests.md`.
package struct PolicyCases: Sendable, Hashable {
  package let fileName: String
  package let cases: [PolicyCase]

  /// Reads the cases out of every table of a Markdown text.
  ///
  /// - Parameters:
  ///   - fileName: What places in messages begin with.
  ///   - markdown: The text, as ``PolicyTable`` takes it.
  ///   - catalog: The facts that the cases may speak of.
  /// - Throws: ``PolicyErrors`` with all problems of the file, also if it has no case.
  package init(
    fileName: String,
    markdown: [UInt8],
    facts catalog: FactCatalog = .standard
  ) throws(PolicyErrors) {
    var problems = ProblemList(file: fileName)
    var cases: [PolicyCase] = []
    for table in try MarkdownTable.tables(in: markdown, file: fileName) {
      let parts = DecisionPart.allCases.map { ($0.rawValue, $0) }
      let reader = TableReader(
        table,
        facts: catalog,
        outcomes: parts,
        others: ["case"],
        problems: &problems
      )
      reader.forEachRow(problems: &problems) { _, row, problems in
        let conditions = reader.conditions(in: row, problems: &problems)
        let expectations = reader.expectations(in: row, problems: &problems)
        var name = ""
        for (column, cell) in zip(reader.columns, row.cells) {
          if case .other("case") = column { name = cell.text }
        }
        cases.append(
          PolicyCase(name: name, line: row.line, conditions: conditions, expectations: expectations)
        )
      }
    }
    try problems.check()
    guard !cases.isEmpty else {
      throw PolicyErrors(errors: [PolicyError(file: fileName, "no cases, expected a table with some")])
    }
    self.fileName = fileName
    self.cases = cases
  }
}
