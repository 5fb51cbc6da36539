import FeedimgPolicy
import FeedimgSystem

/// What the one place says that holds a policy, whether or not it is in order.
struct PolicyContent {
  let source: PolicySource
  let reading: PolicyReading
}

extension PolicySelection {
  /// What the first place says that holds anything; nil where none does.
  func text() -> PolicyContent? {
    for source in sources {
      let reading = source.reading(source.stamp)
      if reading != .nothing { return PolicyContent(source: source, reading: reading) }
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
    if let source = selection.sources.first, source.layer == .given {
      let text = try source.reading(source.stamp).text()
      let table = try source.table(in: text, facts: shelf.facts)
      return AskedPolicy(source: source, table: table, text: text, warnings: [])
    }
    let readings = selection.read(selection.stamps())
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen, let index = selection.sources.firstIndex(of: chosen.source) else {
      throw choice.fault
    }
    return AskedPolicy(
      source: chosen.source,
      table: chosen.policy.table,
      text: try readings[index].text(),
      warnings: choice.warnings
    )
  }
}
