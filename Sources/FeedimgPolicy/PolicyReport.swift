/// What the check of a policy found, exactly: every state was enumerated.
package struct PolicyReport: Sendable, Hashable {
  package let name: String
  package let ruleCount: Int
  /// The facts that the rules ask about and those that the laws need.
  package let factCount: Int
  package let stateCount: Int
  package let reachedRuleCount: Int
  package let promiseCount: Int
  /// Errors first, each kind in the order of the rules.
  package let findings: [Finding]

  /// Checks a policy.
  ///
  /// - Parameter table: The policy.
  /// - Throws: ``PolicyErrors`` where there are too many states, naming the fact to blame.
  package init(_ table: PolicyTable) throws(PolicyErrors) {
    let space = try table.space()
    let check = PolicyCheck(Evaluation(table, in: space))
    let promises = try PromiseCheck(table)
    findings =
      check.gap + check.unreachable + promises.findings + check.offlineLoads
      + check.redundant + check.dearer + check.hidden
    name = table.name
    ruleCount = table.rules.count
    factCount = space.axes.count
    stateCount = space.possibleCount
    reachedRuleCount = check.reachedRuleCount
    promiseCount = table.promises.count
  }

  package var errors: [Finding] { findings.filter { $0.severity == .error } }

  package var warnings: [Finding] { findings.filter { $0.severity == .warning } }

  /// Such as `default: 6 rules, 4 facts, 90 states`.
  package var headline: String {
    "\(name): \(Self.count(ruleCount, "rule")), \(Self.count(factCount, "fact")), \(Self.count(stateCount, "state"))"
  }

  /// Such as `ok: total, 6 of 6 rules reached, offline never loads`; nil where there are errors.
  package var summary: String? {
    guard errors.isEmpty else { return nil }
    let promises = promiseCount == 0 ? "" : ", \(promiseCount) promise(s) hold"
    return "ok: total, \(reachedRuleCount) of \(ruleCount) rules reached, offline never loads" + promises
  }

  private static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
