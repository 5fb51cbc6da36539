package import FeedimgJSON
import FeedimgModel

extension PolicyTable {
  /// The policy in its machine form, as ``PolicySchema`` describes it.
  ///
  /// Prose and lines are not in it; ``init(name:fileName:json:facts:)`` reads the rest back.
  package var json: JSONValue {
    var members: [(String, JSONValue)] = [("policy", .string(name))]
    let facts = declaredFacts
    if !facts.isEmpty { members.append(("facts", .array(facts.map(\.json)))) }
    members.append(("rules", .array(rules.map(\.json))))
    if !promises.isEmpty { members.append(("promises", .array(promises.map(\.json)))) }
    return .object(JSONObject(members))
  }

  /// The facts of the host application that the policy asks about.
  private var declaredFacts: [HostFact] {
    let conditions = rules.flatMap(\.conditions) + promises.flatMap(\.conditions)
    let asked = Set(conditions.map(\.fact))
    return hostFacts.filter { asked.contains(.host($0)) }
  }
}

extension HostFact {
  fileprivate var json: JSONValue {
    ["name": .string(name), "values": .array(values.map(JSONValue.string))]
  }
}

extension Rule {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("when", .object(JSONObject(conditions.map { ($0.fact.name, $0.json) }))),
      ("image", .string(outcome.image.rawValue)),
      ("upgrade", .string(outcome.upgrade.rawValue)),
    ]
    // Left out where nothing is said, as a prefetch heeds whether anything is.
    if let priority = outcome.priority { members.append(("priority", .string(priority.rawValue))) }
    return .object(JSONObject(members))
  }
}

extension Promise {
  fileprivate var json: JSONValue {
    [
      "when": .object(JSONObject(conditions.map { ($0.fact.name, $0.json) })),
      "expect": .object(JSONObject(expectations.map { ($0.part.rawValue, $0.json) })),
    ]
  }
}

extension Condition {
  fileprivate var json: JSONValue { cellJSON(text) }
}

extension Expectation {
  fileprivate var json: JSONValue { cellJSON(text) }
}

/// A cell as a string, an array of strings, or either under `not`.
private func cellJSON(_ text: String) -> JSONValue {
  guard !text.hasPrefix("not ") else { return ["not": cellJSON(String(text.dropFirst(4)))] }
  let parts = text.listed.map(JSONValue.string)
  return parts.count == 1 ? parts[0] : .array(parts)
}
