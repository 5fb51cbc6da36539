package import FeedimgJSON

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
  /// The finding as an object; members that do not apply are left out.
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
