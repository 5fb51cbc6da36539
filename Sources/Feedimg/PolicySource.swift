import FeedimgPolicies
import FeedimgPolicy
import FeedimgSystem

/// One place that a policy can come from.
struct PolicySource: Sendable, Hashable {
  let name: String
  let layer: Policies.Layer
  /// Nil for what comes with feedimg.
  let file: PolicyFile?

  /// What places in messages begin with.
  var fileName: String { file?.path ?? "\(name).md" }

  var stamp: FileStamp { file?.stamp ?? .special }

  /// What the source says now.
  func reading(_ stamp: FileStamp) -> PolicyReading {
    guard let file else {
      if let text = ShippedPolicies.table(of: name) { return .bytes(text) }
      return .nothing
    }
    // Only a file that was given by hand may be a pipe: others would wait for whoever writes into it.
    if layer != .given {
      if stamp == .missing { return .nothing }
      if stamp == .special { return .fault(PolicyFault(["\(file.path): is no file"], isUnreadable: true)) }
    }
    return file.reading
  }

  /// The table in a text of this source.
  ///
  /// - Throws: ``PolicyFault`` with all slips.
  func table(in text: [UInt8], facts: FactCatalog) throws(PolicyFault) -> PolicyTable {
    do throws(PolicyErrors) {
      return try parse(text, facts: facts)
    } catch {
      throw PolicyFault(error.errors.map(\.description), isUnreadable: !isLegible(text))
    }
  }

  /// The table in a text of this source, with errors that tell each place.
  func parse(_ text: [UInt8], facts: FactCatalog) throws(PolicyErrors) -> PolicyTable {
    guard !fileName.hasSuffix(".json") else {
      return try PolicyTable(name: name, fileName: fileName, json: text, facts: facts)
    }
    return try PolicyTable(name: name, fileName: fileName, markdown: text, facts: facts)
  }

  /// Whether a text of this source can be read at all, whatever slips are in it.
  func isLegible(_ text: [UInt8]) -> Bool { PolicyTable.isLegible(fileName: fileName, text: text) }

  /// The policy in a text of this source, if it is in order; what comes with feedimg is known to be.
  ///
  /// - Throws: ``PolicyFault`` with all that is wrong.
  func policy(in text: [UInt8], facts: FactCatalog) throws(PolicyFault) -> CompiledPolicy {
    let table = try table(in: text, facts: facts)
    let messages: [String]
    do throws(PolicyErrors) {
      let errors = layer == .builtIn ? [] : try PolicyReport(table).errors
      if errors.isEmpty { return try CompiledPolicy(table) }
      messages = errors.map(\.problem.description)
    } catch {
      messages = error.errors.map(\.description)
    }
    throw PolicyFault(messages)
  }
}

extension ShippedPolicies {
  /// The text of a policy that comes with feedimg; the default first, as nearly everybody asks for it.
  static func table(of name: String) -> [UInt8]? {
    name == "default" ? defaultTable : all.first { $0.name == name }?.text
  }
}
