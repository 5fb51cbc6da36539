package import FeedimgJSON
import FeedimgModel

extension Explanation {
  /// The explanation as an object.
  package var json: JSONValue {
    let facts = facts.map { ($0.name, JSONValue.string($0.value(in: situation))) }
    return [
      "policy": .string(policy),
      "facts": .object(JSONObject(facts)),
      "steps": .array(steps.map(\.json)),
      "decision": .object(JSONObject(decision.members)),
      "place": .string(place),
    ]
  }
}

extension Explanation.Step {
  fileprivate var json: JSONValue {
    [
      "rule": .integer(rule),
      "place": .string(place),
      "applies": .bool(applies),
      "reason": .string(reason),
    ]
  }
}
