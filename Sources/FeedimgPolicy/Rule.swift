package import FeedimgModel

/// What a rule says; the laws do the rest.
package struct Outcome: Sendable, Hashable {
  package var image: Ceiling
  package var upgrade: Upgrade = .never
  /// Nil where the rule has no word on it; a load is wanted now then.
  package var priority: Urgency?
}

/// One row of a policy's table.
package struct Rule: Sendable, Hashable {
  /// Counted from one.
  package let number: Int
  /// Where the row stands in its file, counted from one; nil in JSON, where no line is kept.
  package let line: Int?
  /// In the fixed order of facts, at most one a fact; empty where the rule always applies.
  package let conditions: [Condition]
  package let outcome: Outcome

  /// Whether the rule applies, whatever the rules above it.
  package func holds(in situation: Situation) -> Bool {
    conditions.allSatisfy { $0.holds(in: situation) }
  }

  /// The laws applied to the rule's outcome.
  package func decision(in situation: Situation) -> Decision {
    Decision(
      ceiling: outcome.image,
      in: situation,
      upgrade: outcome.upgrade,
      urgency: outcome.priority ?? .now,
      rule: number
    )
  }
}
