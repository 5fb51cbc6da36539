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
