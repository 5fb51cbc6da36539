import FeedimgModel
import FeedimgPolicies
package import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem

/// All policies that there are: those that come with feedimg, and those in two folders, which replace them by name.
package struct PolicyShelf: Sendable {
  package let facts: FactCatalog
  /// Nil where the environment names none.
  private let userFolder: String?
  private let systemFolder: String

  /// - Throws: ``ConfigurationError`` for facts of the application that no table could spell.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    do throws(FactError) {
      facts =
        configuration.hostFacts.isEmpty ? .standard : try FactCatalog(hosting: configuration.hostFacts)
    } catch {
      throw ConfigurationError([error.description])
    }
    let own =
      configuration.configurationFolder
      ?? (try? SettingsPaths(environment: configuration.environment).configFolder)
    userFolder = own.map { PolicyFile(folder: $0, name: "policies").path }
    systemFolder = PolicyFile(folder: configuration.systemFolder, name: "policies").path
  }

  /// Where a policy of that name can come from, whether or not it does.
  package func selection(named name: String) -> PolicySelection {
    var sources: [PolicySource] = []
    func add(_ layer: PolicyLayer, _ folder: String) {
      for ending in PolicyFile.policyEndings {
        let file = PolicyFile(folder: folder, name: name + ending)
        sources.append(PolicySource(name: name, layer: layer, file: file))
      }
    }
    if let userFolder { add(.user, userFolder) }
    add(.system, systemFolder)
    if ShippedPolicies.table(of: name) != nil {
      sources.append(PolicySource(name: name, layer: .builtIn, file: nil))
    }
    return PolicySelection(name: name, sources: sources, facts: facts)
  }

  /// The policy that a configuration asks for.
  ///
  /// - Throws: ``PolicyFault``, unreadable, with a suggestion where a name is near.
  package func selection(
    of policy: ImageLoader.Configuration.Policy
  ) throws(PolicyFault) -> PolicySelection {
    switch policy {
    case .standard: selection(named: "default")
    case .named(let argument): try selection(of: argument)
    }
  }

  /// The policy that someone named: one of the shelf, or else a file.
  ///
  /// - Throws: ``PolicyFault``, unreadable, with a suggestion where a name is near.
  package func selection(of argument: String) throws(PolicyFault) -> PolicySelection {
    let file = PolicyFile(path: argument)
    if !argument.contains("/") {
      let named = selection(named: argument)
      if named.sources.contains(where: { $0.layer == .builtIn || $0.stamp != .missing }) { return named }
      if !file.holdsPolicy, file.stamp == .missing { throw unknown(argument) }
    }
    let source = PolicySource(name: file.name, layer: .given, file: file)
    return PolicySelection(name: file.name, sources: [source], facts: facts)
  }

  private func unknown(_ name: String) -> PolicyFault {
    let near = Spelling.nearest(to: name, among: names()).map { "; did you mean `\($0)`?" }
    let text =
      "there is neither a policy nor a file `\(name)`" + (near ?? "; `feedimg policy list` names all")
    return PolicyFault([text], isUnreadable: true)
  }

  /// The names of all policies, those that are refused included: the default first, then by name.
  package func names() -> [String] {
    let folders = [userFolder, systemFolder].compactMap { $0 }
    let files = folders.flatMap { (try? PolicyFile.files(in: $0)) ?? [] }
    let names = Set(files.filter(\.holdsPolicy).map(\.name) + ShippedPolicies.all.map(\.name))
    return names.sorted(by: Self.precedes)
  }

  /// The default first, then by name.
  package static func precedes(_ name: String, _ other: String) -> Bool {
    (name == "default" ? 0 : 1, name) < (other == "default" ? 0 : 1, other)
  }
}

/// Where a policy comes from; a later one replaces an earlier one of the same name.
public enum PolicyLayer: String, Sendable, Hashable {
  /// It comes with feedimg.
  case builtIn = "built-in"
  /// The administrator's folder, `/etc/feedimg/policies`.
  case system
  /// The user's folder, `$XDG_CONFIG_HOME/feedimg/policies`.
  case user
  /// A file that was given by its path.
  case given
}

/// The places that one policy can come from, and the choice among them.
///
/// On the way to the first decision of a program: generic types of its own would cost more than the files.
package struct PolicySelection: Sendable {
  package let name: String
  /// The one that counts first in front.
  package let sources: [PolicySource]
  package let facts: FactCatalog

  /// A policy that is in order, and where it came from.
  package struct Chosen: Sendable {
    package let source: PolicySource
    package let policy: CompiledPolicy
  }

  /// Why what one source holds is not in order.
  package struct Refusal: Sendable {
    package let source: PolicySource
    package let fault: PolicyFault
  }

  /// What came of a reading.
  package struct Choice: Sendable {
    /// Nil where no source holds a policy that is in order.
    package var chosen: Chosen?
    /// Whether ``chosen`` is what its source said before, and no longer does.
    package var isEarlier = false
    package var refusals: [Refusal] = []
  }

  /// What all sources say now.
  package func read() -> [PolicyReading] { read(stamps()) }

  func stamps() -> [FileStamp] {
    var stamps: [FileStamp] = []
    for source in sources { stamps.append(source.stamp) }
    return stamps
  }

  /// What all sources say.
  ///
  /// - Parameter stamps: One for each source.
  /// - Returns: Likewise.
  func read(_ stamps: [FileStamp]) -> [PolicyReading] {
    var readings: [PolicyReading] = []
    for index in sources.indices { readings.append(sources[index].reading(stamps[index])) }
    return readings
  }

  /// Takes the first source that is in order.
  ///
  /// - Parameters:
  ///   - readings: What the sources say.
  ///   - old: What was chosen before: it stays where its own source now holds something that is not in
  ///     order, and where nothing else is left.
  /// - Returns: The choice, with what was refused before it was found.
  package func choose(_ readings: [PolicyReading], keeping old: Chosen? = nil) -> Choice {
    var choice = Choice()
    for index in sources.indices where choice.chosen == nil && readings[index] != .nothing {
      let source = sources[index]
      do throws(PolicyFault) {
        let text = try readings[index].text()
        choice.chosen = Chosen(source: source, policy: try source.policy(in: text, facts: facts))
      } catch {
        choice.refusals.append(Refusal(source: source, fault: error))
        if let old, old.source == source {
          choice.chosen = old
          choice.isEarlier = true
        }
      }
    }
    if choice.chosen == nil, let old {
      choice.chosen = old
      choice.isEarlier = true
      let gone = PolicyFault(["\(old.source.fileName): is gone"], isUnreadable: true)
      choice.refusals.append(Refusal(source: old.source, fault: gone))
    }
    return choice
  }
}

extension PolicySelection.Choice {
  /// Why nothing was chosen.
  package var fault: PolicyFault {
    PolicyFault(
      refusals.flatMap(\.fault.messages),
      isUnreadable: refusals.contains { $0.fault.isUnreadable }
    )
  }

  /// The policy that was chosen, in words that go on with "stays in force".
  package var inForce: String {
    guard let source = chosen?.source, !isEarlier else { return "the earlier version" }
    return source.file.map { "`\($0.path)`" } ?? "the built-in `\(source.name)`"
  }

  /// What a user should be told of files that are refused, one line each.
  package var warnings: [String] {
    refusals.compactMap { refusal in
      guard let first = refusal.fault.messages.first else { return nil }
      let rest = refusal.fault.messages.count - 1
      return "\(first)\(rest > 0 ? " (and \(rest) more)" : ""); \(inForce) stays in force"
    }
  }
}

/// One place that a policy can come from.
package struct PolicySource: Sendable, Hashable {
  package let name: String
  package let layer: PolicyLayer
  /// Nil for what comes with feedimg.
  package let file: PolicyFile?

  package init(name: String, layer: PolicyLayer, file: PolicyFile?) {
    (self.name, self.layer, self.file) = (name, layer, file)
  }

  /// What places in messages begin with.
  package var fileName: String { file?.path ?? "\(name).md" }

  var stamp: FileStamp { file?.stamp ?? .special }

  /// What the source says now.
  package var reading: PolicyReading { reading(stamp) }

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
  package func table(in text: [UInt8], facts: FactCatalog) throws(PolicyFault) -> PolicyTable {
    do throws(PolicyErrors) {
      return try parse(text, facts: facts)
    } catch {
      throw PolicyFault(error.errors.map(\.description), isUnreadable: !isLegible(text))
    }
  }

  /// The table in a text of this source, with errors that tell each place.
  package func parse(_ text: [UInt8], facts: FactCatalog) throws(PolicyErrors) -> PolicyTable {
    guard !fileName.hasSuffix(".json") else {
      return try PolicyTable(name: name, fileName: fileName, json: text, facts: facts)
    }
    return try PolicyTable(name: name, fileName: fileName, markdown: text, facts: facts)
  }

  /// Whether a text of this source can be read at all, whatever slips are in it.
  package func isLegible(_ text: [UInt8]) -> Bool { PolicyTable.isLegible(fileName: fileName, text: text) }

  /// The policy in a text of this source, if it is in order; what comes with feedimg is known to be.
  ///
  /// - Throws: ``PolicyFault`` with all that is wrong.
  package func policy(in text: [UInt8], facts: FactCatalog) throws(PolicyFault) -> CompiledPolicy {
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
