package import FeedimgJSON
package import FeedimgModel

/// How a policy made its decision: the rules that it tried, in order, and the decision.
package struct Explanation: Sendable, Hashable {
  /// One rule that the policy tried.
  package struct Step: Sendable, Hashable {
    package let rule: Int
    /// The file and line of the rule, such as `default.md:10`.
    package let place: String
    /// Whether the rule applies.
    ///
    /// True for the last step only.
    package let applies: Bool
    /// Such as `original is remote, not cached`, or why the rule applies.
    package let reason: String
  }

  /// The name of the policy.
  package let policy: String
  package let steps: [Step]
  package let decision: Decision
  package let situation: Situation
  /// All known facts, including those that the policy does not use.
  package let facts: [Fact]

  /// Tries the rules of a policy, one row after the other.
  package init(_ policy: CompiledPolicy, in situation: Situation) {
    let decision = policy.decide(situation)
    steps = policy.table.rules.prefix(decision.rule).map { rule in
      let failing = rule.conditions.filter { !$0.holds(in: situation) }
      return Step(
        rule: rule.number,
        place: policy.place(ofRule: rule.number),
        applies: failing.isEmpty,
        reason: failing.isEmpty
          ? rule.why(in: situation) : failing.map { $0.denial(in: situation) }.joined(separator: "; ")
      )
    }
    self.policy = policy.name
    facts = (Fact.standard + policy.table.hostFacts.map(Fact.host)).sorted()
    self.decision = decision
    self.situation = situation
  }

  /// The file and line of the deciding rule, such as `default.md:10`.
  package var place: String { steps.last?.place ?? "" }

  /// One line per step, and one line for the decision.
  package var lines: [String] {
    steps.map { "  \($0.applies ? "✓" : "✗") rule \($0.rule)  \($0.reason)" } + [conclusion]
  }

  private var conclusion: String {
    let source = decision.source == .none ? "" : " (\(decision.source.rawValue))"
    let upgrade = decision.upgrade == .never ? "-" : decision.upgrade.rawValue
    return "→ image: \(decision.image.rawValue)\(source)   now: \(decision.show.rawValue)"
      + "   load: \(DecisionPart.load.value(in: decision))   upgrade: \(upgrade)   [\(place)]"
  }

  /// The explanation as an object.
  package var json: JSONValue {
    let facts = facts.map { ($0.name, JSONValue.string($0.value(in: situation))) }
    return [
      "policy": .string(policy),
      "facts": .object(JSONObject(facts)),
      "steps": .array(
        steps.map { step in
          [
            "rule": .integer(step.rule), "place": .string(step.place), "applies": .bool(step.applies),
            "reason": .string(step.reason),
          ]
        }
      ),
      "decision": .object(decision.members),
      "place": .string(place),
    ]
  }
}

extension Condition {
  /// Why the condition does not hold, such as `network is cellular, not wifi, ethernet`.
  func denial(in situation: Situation) -> String {
    statement(in: situation) + (isNegated ? "" : ", not \(text)")
  }
}
