import FeedimgModel
import FeedimgPolicy
import Testing

/// The findings of the check in tables with mistakes, word for word.
struct CheckTests {
  /// One table, without its title lines, and all findings.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String
    var findings: [String]

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(
      name: "the rule in words transcribed literally",
      text: """
        | original | network  | always original | thumbnail | → image     |
        |----------|----------|-----------------|-----------|-------------|
        | cached   | -        | -               | -         | original    |
        | -        | wifi     | -               | -         | original    |
        | -        | cellular | yes             | -         | original    |
        | -        | cellular | no              | -         | thumbnail   |
        | -        | offline  | -               | cached    | thumbnail   |
        | -        | offline  | -               | -         | placeholder |
        """,
      findings: ["error   x.md: no rule for: network ethernet/other, original remote/none (24 states)"]
    ),
    Row(
      name: "a rule that several others cover together",
      text: """
        | original | network        | always original | → image   |
        |----------|----------------|-----------------|-----------|
        | cached   | -              | -               | original  |
        | -        | wifi           | -               | original  |
        | -        | wifi, ethernet | -               | original  |
        | -        | -              | yes             | original  |
        | -        | -              | no              | thumbnail |
        | -        | offline        | -               | cached    |
        """,
      findings: [
        "error   x.md:8: rule 6 is never reached: covered by rules 1, 4, 5",
        "warning x.md:4: rule 2 changes nothing: without it the rules below decide the same",
      ]
    ),
    Row(
      name: "a rule that one other covers",
      text: "| network | → image |\n|--|--|\n| - | original |\n| wifi | thumbnail |\n",
      findings: ["error   x.md:4: rule 2 is never reached: covered by rule 1"]
    ),
    Row(
      name: "a rule that can never match",
      text: """
        | network | metered | → image |
        |--|--|--|
        | wifi | not no, yes, unknown | cached |
        | - | - | original |
        """,
      findings: [
        "error   x.md:3: rule 1 can never match: no state has network wifi, metered not no, yes, unknown"
      ]
    ),
    Row(
      name: "a derived fact that contradicts what it is derived from",
      text: """
        | size | fits | → image |
        |--|--|--|
        | unknown | yes | cached |
        | unknown | no | cached |
        | - | unknown | cached |
        | - | - | original |
        """,
      findings: [
        "error   x.md:3: rule 1 can never match: no state has size unknown, fits yes",
        "error   x.md:4: rule 2 can never match: no state has size unknown, fits no",
      ]
    ),
    Row(
      name: "a promise that is broken",
      text: """
        | original | network        | metered | → image   |
        |----------|----------------|---------|-----------|
        | cached   | -              | -       | original  |
        | -        | wifi, ethernet | -       | original  |
        | -        | -              | -       | thumbnail |

        ## Promises
        | metered | → load       |
        |---------|--------------|
        | yes     | not original |
        | -       | nothing      |
        """,
      findings: [
        "error   x.md:10: promise 1 broken by rule 2: network wifi/ethernet, metered yes, original remote",
        "error   x.md:11: promise 2 broken by rule 2: network wifi/ethernet, original remote;"
          + " network wifi/ethernet, original none, thumbnail remote",
        "error   x.md:11: promise 2 broken by rule 3: network cellular/other, original remote/none,"
          + " thumbnail remote",
      ]
    ),
    Row(
      name: "a promise about a fact that the rules leave out",
      text: """
        | → image   |
        |-----------|
        | thumbnail |

        ## Promises
        | size    | → load  |
        |---------|---------|
        | > 20 MB | nothing |
        """,
      findings: [
        "error   x.md:8: promise 1 broken by rule 1: network wifi/ethernet/cellular/other, thumbnail remote,"
          + " size > 20 MB",
        "warning x.md:3: rule 1 hides a cached original: original cached",
      ]
    ),
    Row(
      name: "more when metered",
      text: """
        | original | metered | → image   |
        |----------|---------|-----------|
        | cached   | -       | original  |
        | -        | yes     | original  |
        | -        | -       | thumbnail |
        """,
      findings: [
        "warning x.md: metered no → yes loads more: network wifi/ethernet/cellular/other, metered no,"
          + " original remote"
      ]
    ),
    Row(
      name: "more when metering is unknown",
      text: """
        | original | metered | → image   |
        |----------|---------|-----------|
        | cached   | -       | original  |
        | -        | unknown | original  |
        | -        | -       | thumbnail |
        """,
      findings: [
        "warning x.md: metered no → unknown loads more: network wifi/ethernet/cellular/other, metered no,"
          + " original remote"
      ]
    ),
    Row(
      name: "more when roaming, and with the data saver on",
      text: """
        | original | roaming | data saver | → image  |
        |----------|---------|------------|----------|
        | -        | no      | off        | cached   |
        | -        | -       | -          | original |
        """,
      findings: [
        "warning x.md: roaming no → yes loads more: network wifi/ethernet/cellular/other, roaming no,"
          + " data saver off, original remote; network wifi/ethernet/cellular/other, roaming no, data saver off,"
          + " original none, thumbnail remote",
        "warning x.md: data saver off → on loads more: network wifi/ethernet/cellular/other, roaming no,"
          + " data saver off, original remote; network wifi/ethernet/cellular/other, roaming no, data saver off,"
          + " original none, thumbnail remote",
      ]
    ),
    Row(
      name: "a cached original that is hidden",
      text: "| network | → image |\n|--|--|\n| offline | placeholder |\n| - | original |\n",
      findings: ["warning x.md:3: rule 1 hides a cached original: network offline, original cached"]
    ),
    Row(
      name: "a gap in quantities, equal thresholds in different units",
      text: """
        | budget left | size      | → image  |
        |-------------|-----------|----------|
        | >= 0.5 GB   | -         | original |
        | < 500 MB    | < 300 kB  | original |
        | unknown     | -         | original |
        """,
      findings: ["error   x.md: no rule for: size >= 300 kB/unknown, budget left < 0.5 GB (135 states)"]
    ),
    Row(
      name: "quantities between which there is nothing",
      text: """
        | size    | battery       | → image  |
        |---------|---------------|----------|
        | <= 20 B | -             | original |
        | >= 21 B | >= 0 %        | original |
        | -       | unknown       | original |
        """,
      findings: ["error   x.md: no rule for: size unknown, battery >= 0 % (90 states)"]
    ),
  ]

  @Test(arguments: rows) func `every mistake is reported, errors before warnings`(row: Row) throws {
    let report = try PolicyReport(try table(row.text))
    #expect(report.findings.map(\.description) == row.findings)
    #expect((report.summary == nil) == row.findings.contains { $0.hasPrefix("error") })
  }

  @Test func `a broken promise comes with a witness`() throws {
    let report = try PolicyReport(try table(Self.rows[5].text))
    let finding = try #require(report.findings.first)
    #expect(finding.code == .promiseBroken)
    #expect(finding.rule == 2)
    #expect(finding.promise == 1)
    let witness = try #require(finding.witness?.situation)
    #expect(witness.metered == .yes)
    #expect(witness.original == .remote)
    #expect(witness.network == .wifi)
  }

  @Test func `too many states are refused with the name of the fact`() throws {
    let sizes = (1...500).map { "| < \($0) kB | - | original |" }
    let budgets = (1...200).map { "| - | < \($0) MB | original |" }
    let head = ["| size | budget left | → image |", "|--|--|--|"]
    let text = (head + sizes + budgets + ["| - | - | thumbnail |"]).joined(separator: "\n")
    let message =
      "x.md: 18126180 states, the limit is 2000000; `size` alone has 1002 ranges or values"
    let table = try table(text)
    let checked = #expect(throws: PolicyErrors.self) { try PolicyReport(table) }
    #expect(checked?.description == message)
    let compiled = #expect(throws: PolicyErrors.self) { try CompiledPolicy(table) }
    #expect(compiled?.description == message)
  }

  private func table(_ text: String) throws -> PolicyTable {
    try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
  }
}
