import FeedimgPolicy

/// What the one place says that holds a policy, whether or not it is in order.
struct PolicyContent {
  let source: PolicySource
  let content: Result<[UInt8], PolicyFault>
}

extension PolicySelection {
  /// What the first place says that holds anything; nil where none does.
  func text() -> PolicyContent? {
    for source in sources {
      if let content = source.reading(source.stamp) { return PolicyContent(source: source, content: content) }
    }
    return nil
  }
}

/// A policy that a question is about.
struct AskedPolicy {
  let source: PolicySource
  let table: PolicyTable
  let text: [UInt8]
  /// What the user should know, such as that another file of that name is refused.
  let warnings: [String]
}

extension Policies {
  /// The policy that someone named: of the shelf the one in force, of a file what it says, with gaps and all.
  ///
  /// - Throws: ``PolicyFault`` where it cannot be read.
  func asked(_ argument: String) throws(PolicyFault) -> AskedPolicy {
    let selection = try shelf.selection(of: argument)
    let reading = selection.read(selection.stamps())
    if let source = selection.sources.first, source.layer == .given, let content = reading.first {
      let text = try content?.get() ?? []
      let table = try source.table(in: text, facts: shelf.facts)
      return AskedPolicy(source: source, table: table, text: text, warnings: [])
    }
    let choice = selection.choose(reading)
    guard let chosen = choice.chosen, let index = selection.sources.firstIndex(of: chosen.source),
      let content = reading[index]
    else { throw choice.fault }
    return AskedPolicy(
      source: chosen.source,
      table: chosen.policy.table,
      text: try content.get(),
      warnings: choice.warnings
    )
  }
}
