import FeedimgJSON
import FeedimgModel

extension PolicyTable {
  /// Reads a policy from a Markdown text: its first table, and the tables under `## Promises`.
  ///
  /// Everything else is prose. Lines may end in LF or CRLF, and a byte order mark may come first. Does not check
  /// whether the rules leave a gap.
  ///
  /// - Throws: ``PolicyErrors`` with the problems of the file, at most one hundred.
  package init(
    name: String,
    fileName: String,
    markdown: [UInt8],
    facts catalog: FactCatalog = .standard
  ) throws(PolicyErrors) {
    var problems = ProblemList(file: fileName)
    let tables = try MarkdownTable.tables(in: markdown, file: fileName)
    guard let first = tables.first, !first.isUnderPromises else {
      let place = tables.isEmpty ? "" : " before `## Promises`"
      let expected = tables.isEmpty ? "a Markdown table" : "one"
      let message = "no table\(place), expected \(expected) with a column `→ image`"
      throw PolicyErrors(PolicyError(file: fileName, line: tables.first?.header.line, message))
    }
    let reader = TableReader(
      first,
      facts: catalog,
      outcomes: OutcomeColumn.all.map(\.name),
      problems: &problems
    )
    for name in OutcomeColumn.required where !reader.columns.contains(.outcome(name)) {
      problems.add(line: first.header.line, "no column `→ \(name)`, every policy needs one")
    }
    if first.rows.isEmpty { problems.add(line: first.header.line, "the table has no rules") }
    var rules: [Rule] = []
    reader.forEachRow(problems: &problems) { number, row, problems in
      let conditions = reader.conditions(in: row, problems: &problems)
      var outcome = Outcome()
      for (place, cell) in zip(reader.columns, row.cells) {
        guard let column = OutcomeColumn.all.first(where: { place == .outcome($0.name) }) else { continue }
        problems.read(cell, line: row.line) { text throws(FactError) in
          try column.read(text, into: &outcome)
        }
      }
      rules.append(Rule(number: number, line: row.line, conditions: conditions, outcome: outcome))
    }
    var promises: [PolicyPromise] = []
    for table in tables.dropFirst() where table.isUnderPromises {
      Self.read(table, catalog, into: &promises, problems: &problems)
    }
    try problems.check()
    self.name = name
    self.fileName = fileName
    self.rules = rules
    self.promises = promises
    hostFacts = catalog.hostFacts
  }

  private static func read(
    _ table: MarkdownTable,
    _ catalog: FactCatalog,
    into promises: inout [PolicyPromise],
    problems: inout ProblemList
  ) {
    let parts = DecisionPart.allCases.filter { $0 != .rule }.map(\.rawValue)
    let reader = TableReader(table, facts: catalog, outcomes: parts, problems: &problems)
    let earlier = promises.count
    reader.forEachExpectation(problems: &problems) { number, row, conditions, expectations in
      promises.append(
        PolicyPromise(
          number: earlier + number,
          line: row.line,
          conditions: conditions,
          expectations: expectations
        )
      )
    }
  }
}

extension MarkdownTable {
  /// Reads the tables of bytes that may not be text.
  ///
  /// - Throws: ``PolicyErrors`` if the file is empty or not UTF-8.
  static func tables(in bytes: [UInt8], file: String) throws(PolicyErrors) -> [MarkdownTable] {
    guard !bytes.isEmpty else { throw PolicyErrors(PolicyError(file: file, "the file is empty")) }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      let line =
        1
        + (bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
          .firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0)
      throw PolicyErrors(PolicyError(file: file, line: line, "the line is not valid UTF-8"))
    }
    return MarkdownScanner.tables(in: bytes)
  }

  fileprivate var isUnderPromises: Bool { headings.contains { $0.lowercased() == "promises" } }
}

extension PolicyTable {
  /// Whether a file can be read as a policy at all: valid JSON for a name ending in `.json`, or text with a table.
  ///
  /// Such a file may still contain errors; those have a line or field.
  package static func isReadable(fileName: String, text: [UInt8]) -> Bool {
    if fileName.hasSuffix(".json") { return (try? JSONReader.value(in: text)) != nil }
    return (try? MarkdownTable.tables(in: text, file: fileName))?.isEmpty == false
  }
}
