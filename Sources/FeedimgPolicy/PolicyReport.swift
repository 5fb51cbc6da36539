package import FeedimgJSON

/// The findings of a check, which enumerates every state.
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
  /// - Throws: ``PolicyErrors`` if there are too many states; it names the fact with the most regions.
  package init(_ table: PolicyTable) throws(PolicyErrors) {
    let space = try table.space()
    let check = PolicyCheck(Evaluation(table, in: space))
    findings =
      try check.gap + check.unreachable + PolicyCheck.brokenPromises(of: table) + check.redundant
      + check.dearer + check.hidden
    name = table.name
    ruleCount = table.rules.count
    factCount = space.axes.count
    stateCount = space.possibleCount
    reachedRuleCount = check.reachedRuleCount
    promiseCount = table.promises.count
  }

  package var errors: [Finding] { findings.filter { $0.severity == .error } }

  /// Such as `default: 6 rules, 4 facts, 90 states`.
  package var headline: String {
    "\(name): \(Self.count(ruleCount, "rule")), \(Self.count(factCount, "fact")), \(Self.count(stateCount, "state"))"
  }

  /// Such as `ok: total, 6 of 6 rules reached, offline never loads`; nil if there are errors.
  package var summary: String? {
    guard errors.isEmpty else { return nil }
    let promises = promiseCount == 0 ? "" : ", \(promiseCount) promise(s) hold"
    return "ok: total, \(reachedRuleCount) of \(ruleCount) rules reached, offline never loads" + promises
  }

  private static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}

extension PolicyReport {
  /// The report as an object.
  package var json: JSONValue {
    [
      "policy": .string(name),
      "ok": .bool(errors.isEmpty),
      "rules": .integer(ruleCount),
      "facts": .integer(factCount),
      "states": .integer(stateCount),
      "reached": .integer(reachedRuleCount),
      "promises": .integer(promiseCount),
      "findings": .array(findings.map(\.json)),
    ]
  }
}

extension Finding {
  /// The finding as an object.
  ///
  /// Members without a value are omitted.
  package var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("severity", .string(severity.rawValue)), ("code", .string(code.rawValue)),
    ]
    members += problem.members
    if let rule { members.append(("rule", .integer(rule))) }
    if !coveringRules.isEmpty { members.append(("coveredBy", .array(coveringRules.map(JSONValue.integer)))) }
    if let promise { members.append(("promise", .integer(promise))) }
    members.append(("states", .integer(stateCount)))
    if !boxes.isEmpty { members.append(("boxes", .array(boxes.map(JSONValue.string)))) }
    if let witness { members.append(("witness", witness.json)) }
    return .object(JSONObject(members))
  }
}

/// One result of the check of a policy.
package struct Finding: Sendable, Hashable {
  /// The kind of finding, for programs.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case gap
    case neverMatches = "never-matches"
    case neverReached = "never-reached"
    case promiseBroken = "promise-broken"
    case changesNothing = "changes-nothing"
    case loadsMoreWhenDearer = "loads-more-when-dearer"
    case hidesCachedOriginal = "hides-cached-original"
  }

  /// An error prevents the use of the policy; a warning does not.
  package enum Severity: String, Sendable, Hashable {
    case error
    case warning
  }

  package let code: Code
  /// The message and its place.
  package var problem: PolicyError
  /// The number of the rule that the finding concerns.
  package var rule: Int?
  /// The numbers of the rules that cover ``rule`` together.
  package var coveringRules: [Int] = []
  /// The number of the broken promise.
  package var promise: Int?
  /// The states that the finding concerns, as few boxes, in words.
  package var boxes: [String] = []
  package var stateCount = 0
  /// One of the states.
  package var witness: Witness?

  package var severity: Severity {
    switch code {
    case .gap, .neverMatches, .neverReached, .promiseBroken: .error
    case .changesNothing, .loadsMoreWhenDearer, .hidesCachedOriginal: .warning
    }
  }
}

extension Finding: CustomStringConvertible {
  /// Such as `error   shadow.md:10: rule 6 is never reached: covered by rules 1, 4, 5`.
  package var description: String {
    (severity == .error ? "error   " : "warning ") + problem.description
  }
}
