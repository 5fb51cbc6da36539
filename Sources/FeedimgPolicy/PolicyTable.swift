package import FeedimgModel

/// A policy as its author wrote it: rules of which the first that applies decides.
package struct PolicyTable: Sendable, Hashable {
  /// Such as `default`.
  package let name: String
  /// The file's name as it was given, such as `default.md`; places in messages begin with it.
  package let fileName: String
  /// The facts of the columns, in the order in which they stand.
  package let columns: [Fact]
  /// The facts of the host application that the policy could have asked about.
  package let hostFacts: [HostFact]
  /// In the order in which they are tried; never empty.
  package let rules: [Rule]
  /// What must hold in every state, whichever rule decides.
  package let promises: [Promise]

  /// Reads a policy file: JSON if its name ends in `.json`, else Markdown.
  ///
  /// - Parameters:
  ///   - fileName: What places in messages begin with; its last part without the ending is the policy's name.
  ///   - text: The file's bytes.
  ///   - catalog: The facts that the policy may ask about.
  /// - Throws: ``PolicyErrors`` with all problems of the file.
  package init(
    fileName: String,
    text: [UInt8],
    facts catalog: FactCatalog = .standard
  ) throws(PolicyErrors) {
    let last = fileName.split(separator: "/").last ?? ""
    let name = String(last.lastIndex(of: ".").map { last[..<$0] } ?? last)
    self =
      last.hasSuffix(".json")
      ? try PolicyTable(name: name, fileName: fileName, json: text, facts: catalog)
      : try PolicyTable(name: name, fileName: fileName, markdown: text, facts: catalog)
  }

  /// The first rule that applies, found row by row; nil in a gap.
  ///
  /// The plain meaning of a table; ``CompiledPolicy`` decides the same by one look-up.
  package func rule(in situation: Situation) -> Rule? {
    rules.first { $0.holds(in: situation) }
  }
}

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

/// One row under `## Promises`: wherever its conditions hold, so do its expectations.
package struct Promise: Sendable, Hashable {
  /// Counted from one, over all promises of a policy.
  package let number: Int
  /// Where the row stands in its file; nil in JSON.
  package let line: Int?
  package let conditions: [Condition]
  package let expectations: [Expectation]
}
