package import FeedimgModel

/// A policy as its author wrote it.
///
/// The first rule that applies decides.
package struct PolicyTable: Sendable, Hashable {
  /// Such as `default`.
  package let name: String
  /// The file name as the caller gave it, such as `default.md`.
  ///
  /// Error messages show it.
  package let fileName: String
  /// The facts of the host application that the policy may use.
  package let hostFacts: [HostFact]
  /// In the order in which they apply; never empty.
  package let rules: [Rule]
  /// Conditions that must hold in every state, independent of the deciding rule.
  package let promises: [PolicyPromise]

  /// Finds the first rule that applies, row by row; nil in a gap.
  ///
  /// Defines the meaning of a table. ``CompiledPolicy`` decides the same with one look-up.
  package func rule(in situation: Situation) -> Rule? {
    rules.first { $0.holds(in: situation) }
  }
}

/// One row of a policy's table.
package struct Rule: Sendable, Hashable {
  /// Counted from one.
  package let number: Int
  /// The line of the row in its file, counted from one; nil for JSON, which keeps no lines.
  package let line: Int?
  /// In the order of facts, at most one per fact; empty if the rule always applies.
  package let conditions: [Condition]
  package let outcome: Outcome

  /// Whether the rule applies, ignoring the rules above it.
  package func holds(in situation: Situation) -> Bool {
    conditions.allSatisfy { $0.holds(in: situation) }
  }
}

/// One row under `## Promises`: its expectations hold in every state in which its conditions hold.
package struct PolicyPromise: Sendable, Hashable {
  /// Counted from one, over all promises of a policy.
  package let number: Int
  /// The line of the row in its file; nil for JSON.
  package let line: Int?
  package let conditions: [Condition]
  package let expectations: [Expectation]
}
