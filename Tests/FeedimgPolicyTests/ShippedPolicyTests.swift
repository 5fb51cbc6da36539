import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import FoundationEssentials
import Testing

/// The shipped policies, with the checks that their authors would run.
struct ShippedPolicyTests {
  private static let reports = [
    "default: 6 rules, 4 facts, 90 states": "ok: total, 6 of 6 rules reached, offline never loads",
    "always-original: 2 rules, 3 facts, 45 states":
      "ok: total, 2 of 2 rules reached, offline never loads, 2 promise(s) hold",
    "budgeted: 6 rules, 6 facts, 3240 states":
      "ok: total, 6 of 6 rules reached, offline never loads, 1 promise(s) hold",
    "data-saver: 5 rules, 5 facts, 270 states":
      "ok: total, 5 of 5 rules reached, offline never loads, 2 promise(s) hold",
    "metered: 6 rules, 5 facts, 270 states":
      "ok: total, 6 of 6 rules reached, offline never loads, 1 promise(s) hold",
    "roaming-aware: 6 rules, 5 facts, 180 states":
      "ok: total, 6 of 6 rules reached, offline never loads, 2 promise(s) hold",
    "wifi-only: 3 rules, 3 facts, 45 states":
      "ok: total, 3 of 3 rules reached, offline never loads, 1 promise(s) hold",
  ]

  @Test func `there are seven, the default first`() {
    let names = ShippedPolicies.all.map(\.name)
    #expect(
      names == [
        "default", "always-original", "budgeted", "data-saver", "metered", "roaming-aware", "wifi-only",
      ]
    )
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `each has no gap, reaches every rule, and keeps its promises`(name: String) throws {
    let report = try PolicyReport(Shipped.table(name))
    #expect(report.findings.map(\.description) == [])
    #expect(Self.reports[report.headline] == report.summary)
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `each passes its cases, which exercise all its rules`(name: String) throws {
    let table = try Shipped.table(name)
    let report = try CaseReport(Shipped.cases(name), of: table)
    #expect(report.failures.map { "\($0.place) \($0.testCase.name): \($0.message)" } == [])
    #expect(report.exercisedRules == table.rules.map(\.number))
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `each decides every state the same as reading its rows`(name: String) throws {
    let table = try Shipped.table(name)
    let policy = try CompiledPolicy(table)
    let space = try table.space()
    for state in 0..<space.count {
      let situation = space.situation(at: state)
      let decision = policy.decide(situation)
      #expect(decision == NaiveEvaluator.decision(of: table.name, in: situation), "\(situation)")
      #expect(decision == table.rule(in: situation)?.decision(in: situation))
      #expect(space.state(of: situation) == state)
    }
  }
}

/// The shipped policies and the files beside them.
enum Shipped {
  static func table(_ name: String) throws -> PolicyTable {
    let file = try #require(ShippedPolicies.all.first { $0.name == name })
    return try PolicyTable(name: name, fileName: file.fileName, markdown: file.text)
  }

  static func cases(_ name: String) throws -> PolicyCases {
    try PolicyCases(fileName: "\(name).tests.md", markdown: file("\(name).tests.md"))
  }

  /// A file in `Policies/`.
  static func file(_ name: String) throws -> [UInt8] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return Array(try Data(contentsOf: root.appending(path: "Policies/\(name)")))
  }
}
