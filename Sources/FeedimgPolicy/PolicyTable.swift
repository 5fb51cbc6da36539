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

  /// The first rule that applies, found row by row; nil in a gap.
  ///
  /// The plain meaning of a table; ``CompiledPolicy`` decides the same by one look-up.
  package func rule(in situation: Situation) -> Rule? {
    rules.first { $0.holds(in: situation) }
  }
}
