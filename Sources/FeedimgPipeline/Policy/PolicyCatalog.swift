import FeedimgModel
import FeedimgPolicies
package import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem

/// All policies of this machine: the built-in ones, and those in two folders, which replace them by name.
package struct PolicyCatalog: Sendable {
  package let facts: FactCatalog
  /// The user's folder; nil if the environment names none.
  let userFolder: String?
  private let systemFolder: String

  /// Makes a catalog.
  ///
  /// - Parameters:
  ///   - hostFacts: The facts of the application.
  ///   - userFolder: The user's folder of the configuration; nil if the environment names none.
  ///   - systemFolder: The administrator's folder of the configuration.
  /// - Throws: ``ConfigurationError`` for facts of the application that a table cannot express.
  init(
    hostFacts: [HostFact],
    userFolder: String?,
    systemFolder: String
  ) throws(ConfigurationError) {
    do throws(FactError) {
      facts = hostFacts.isEmpty ? .standard : try FactCatalog(hosting: hostFacts)
    } catch {
      throw ConfigurationError([error.description])
    }
    self.userFolder = userFolder.map { PolicyFile(folder: $0, name: "policies").path }
    self.systemFolder = PolicyFile(folder: systemFolder, name: "policies").path
  }

  /// Returns the possible sources of a policy, whether or not they exist.
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

  /// Returns the sources of the policy that a program chooses.
  ///
  /// - Throws: ``PolicyFileError``, unreadable, with a suggestion if a similar name exists.
  package func selection(
    of policy: PolicyChoice
  ) throws(PolicyFileError) -> PolicySelection {
    switch policy {
    case .standard: selection(named: "default")
    case .named(let argument): try selection(of: argument)
    }
  }

  /// Returns the sources of a policy that the user named: a known policy, or else a file.
  ///
  /// - Throws: ``PolicyFileError``, unreadable, with a suggestion if a similar name exists.
  package func selection(of argument: String) throws(PolicyFileError) -> PolicySelection {
    let file = PolicyFile(path: argument)
    if !argument.contains("/") {
      let named = selection(named: argument)
      if named.sources.contains(where: { $0.layer == .builtIn || $0.stamp != .missing }) { return named }
      if !file.holdsPolicy, file.stamp == .missing { throw unknown(argument) }
    }
    let source = PolicySource(name: file.name, layer: .given, file: file)
    return PolicySelection(name: file.name, sources: [source], facts: facts)
  }

  private func unknown(_ name: String) -> PolicyFileError {
    let near = Spelling.nearest(to: name, among: names()).map { "; did you mean `\($0)`?" }
    let text =
      "there is neither a policy nor a file `\(name)`" + (near ?? "; run `feedimg policy list` for all names")
    return PolicyFileError([text], isUnreadable: true)
  }

  /// Throws unless the name is that of a known policy; refuses paths.
  ///
  /// - Throws: ``ConfigurationError``, with a suggestion if a similar name exists.
  package func checkName(_ name: String) throws(ConfigurationError) {
    let names = names()
    guard !names.contains(name) else { return }
    let near = Spelling.nearest(to: name, among: names).map { "; did you mean `\($0)`?" }
    throw ConfigurationError(["there is no policy `\(name)`" + (near ?? "")])
  }

  /// Returns the names of all policies, refused ones included: the default first, then by name.
  package func names() -> [String] {
    let folders = [userFolder, systemFolder].compactMap { $0 }
    let files = folders.flatMap { (try? PolicyFile.files(in: $0)) ?? [] }
    let names = Set(files.filter(\.holdsPolicy).map(\.name) + ShippedPolicies.all.map(\.name))
    return names.sorted(by: Self.precedes)
  }

  /// Returns whether a name comes before another: the default first, then by name.
  package static func precedes(_ name: String, _ other: String) -> Bool {
    (name == "default" ? 0 : 1, name) < (other == "default" ? 0 : 1, other)
  }
}

/// The origin of a policy; a later one in this list replaces an earlier one of the same name.
public enum PolicyLayer: String, Sendable, Hashable {
  /// The policy is part of feedimg.
  case builtIn = "built-in"
  /// The administrator's folder, `/etc/feedimg/policies`.
  case system
  /// The user's folder, `$XDG_CONFIG_HOME/feedimg/policies`.
  case user
  /// A file given by its path.
  case given
}

/// The possible sources of one policy, and the choice among them.
///
/// This code runs before the first decision of a program. It uses no generic types of its own, because those
/// would take longer to set up than the files take to read.
package struct PolicySelection: Sendable {
  package let name: String
  /// The sources, in order of precedence.
  package let sources: [PolicySource]
  package let facts: FactCatalog

  /// A valid policy and its source.
  package struct Chosen: Sendable {
    package let source: PolicySource
    package let policy: CompiledPolicy
  }

  /// A source whose content is invalid, and the reasons.
  package struct Refusal: Sendable {
    package let source: PolicySource
    package let fault: PolicyFileError
  }

  /// The result of a choice among the sources.
  package struct Choice: Sendable {
    /// The chosen policy; nil if no source holds a valid one.
    package var chosen: Chosen?
    /// Whether ``chosen`` is an earlier version, which its source no longer holds.
    package var isEarlier = false
    package var refusals: [Refusal] = []
  }

  func stamps() -> [FileStamp] {
    var stamps: [FileStamp] = []
    for source in sources { stamps.append(source.stamp) }
    return stamps
  }

  /// Reads all sources, and returns one reading for each.
  package func read() -> [PolicyReading] {
    var readings: [PolicyReading] = []
    for source in sources { readings.append(source.reading) }
    return readings
  }

  /// Chooses the first valid source.
  ///
  /// - Parameters:
  ///   - readings: The content of the sources.
  ///   - old: The previous choice. It stays if its source became invalid, or if no other source is valid.
  /// - Returns: The choice, with the sources refused before it.
  package func choose(_ readings: [PolicyReading], keeping old: Chosen? = nil) -> Choice {
    var choice = Choice()
    for index in sources.indices where choice.chosen == nil && readings[index] != .nothing {
      let source = sources[index]
      do throws(PolicyFileError) {
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
      let gone = PolicyFileError(["\(old.source.fileName): was removed"], isUnreadable: true)
      choice.refusals.append(Refusal(source: old.source, fault: gone))
    }
    return choice
  }
}

extension PolicySelection.Choice {
  /// The reasons why no source was chosen.
  package var fault: PolicyFileError {
    PolicyFileError(
      refusals.flatMap(\.fault.messages),
      isUnreadable: refusals.contains { $0.fault.isUnreadable }
    )
  }

  /// The chosen policy in words, for a sentence that continues with "stays in force".
  package var inForce: String {
    guard let source = chosen?.source, !isEarlier else { return "the earlier version" }
    return source.file.map { "`\($0.path)`" } ?? "the built-in `\(source.name)`"
  }

  /// The warnings about refused files, one line each.
  package var warnings: [String] {
    refusals.compactMap { refusal in
      guard let first = refusal.fault.messages.first else { return nil }
      let rest = refusal.fault.messages.count - 1
      return "\(first)\(rest > 0 ? " (and \(rest) more)" : ""); \(inForce) stays in force"
    }
  }
}

/// One possible source of a policy.
package struct PolicySource: Sendable, Hashable {
  package let name: String
  package let layer: PolicyLayer
  /// The file; nil for a built-in policy.
  package let file: PolicyFile?

  package init(name: String, layer: PolicyLayer, file: PolicyFile?) {
    (self.name, self.layer, self.file) = (name, layer, file)
  }

  /// The name of the file, as messages print it.
  package var fileName: String { file?.path ?? "\(name).md" }

  var stamp: FileStamp { file?.stamp ?? .special }

  /// Reads the source.
  package var reading: PolicyReading {
    guard let file else {
      if let text = ShippedPolicies.table(of: name) { return .bytes(text) }
      return .nothing
    }
    // Only a file given by its path may be a pipe; reading any other pipe would wait for its writer.
    if layer != .given {
      let stamp = stamp
      if stamp == .missing { return .nothing }
      if stamp == .special {
        return .fault(PolicyFileError(["\(file.path): is not a file"], isUnreadable: true))
      }
    }
    return file.reading
  }

  /// Reads the table in a text of this source.
  ///
  /// - Throws: ``PolicyFileError`` with all errors.
  package func table(in text: [UInt8], facts: FactCatalog) throws(PolicyFileError) -> PolicyTable {
    do throws(PolicyErrors) {
      return try parse(text, facts: facts)
    } catch {
      throw PolicyFileError(error.errors.map(\.description), isUnreadable: !isReadable(text))
    }
  }

  /// Reads the table in a text of this source; each error has its place.
  package func parse(_ text: [UInt8], facts: FactCatalog) throws(PolicyErrors) -> PolicyTable {
    guard !fileName.hasSuffix(".json") else {
      return try PolicyTable(name: name, fileName: fileName, json: text, facts: facts)
    }
    return try PolicyTable(name: name, fileName: fileName, markdown: text, facts: facts)
  }

  /// Returns whether a text of this source can be read at all, even with errors.
  package func isReadable(_ text: [UInt8]) -> Bool { PolicyTable.isReadable(fileName: fileName, text: text) }

  /// Reads and checks the policy in a text of this source; a built-in policy needs no check.
  ///
  /// - Throws: ``PolicyFileError`` with all errors.
  package func policy(in text: [UInt8], facts: FactCatalog) throws(PolicyFileError) -> CompiledPolicy {
    let table = try table(in: text, facts: facts)
    let messages: [String]
    do throws(PolicyErrors) {
      let errors = layer == .builtIn ? [] : try PolicyReport(table).errors
      if errors.isEmpty { return try CompiledPolicy(table) }
      messages = errors.map(\.problem.description)
    } catch {
      messages = error.errors.map(\.description)
    }
    throw PolicyFileError(messages)
  }
}

extension ShippedPolicies {
  /// Returns the text of a built-in policy; the default first, because most programs use it.
  static func table(of name: String) -> [UInt8]? {
    name == "default" ? defaultTable : all.first { $0.name == name }?.text
  }
}

/// The choice of a policy.
public enum PolicyChoice: Sendable, Hashable {
  /// The policy named `default`.
  case standard
  /// The name of a policy, or the path of a file: Markdown, or JSON if it ends in `.json`.
  case named(String)
}
