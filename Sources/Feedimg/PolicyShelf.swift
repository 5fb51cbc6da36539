import FeedimgPolicies
import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem

/// All policies that there are: those that come with feedimg, and those in two folders, which replace them by name.
struct PolicyShelf: Sendable {
  let facts: FactCatalog
  /// Nil where the environment names none.
  private let userFolder: String?
  private let systemFolder: String

  /// - Throws: ``ConfigurationError`` for facts of the application that no table could spell.
  init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
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
  func selection(named name: String) -> PolicySelection {
    var sources: [PolicySource] = []
    func add(_ layer: Policies.Layer, _ folder: String) {
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
  func selection(
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
  func selection(of argument: String) throws(PolicyFault) -> PolicySelection {
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
    let near = PolicyName.nearest(to: name, among: names()).map { "; did you mean `\($0)`?" }
    let text =
      "there is neither a policy nor a file `\(name)`" + (near ?? "; `feedimg policy list` names all")
    return PolicyFault([text], isUnreadable: true)
  }

  /// The names of all policies, those that are refused included: the default first, then by name.
  func names() -> [String] {
    let folders = [userFolder, systemFolder].compactMap { $0 }
    let files = folders.flatMap { (try? PolicyFile.files(in: $0)) ?? [] }
    let names = Set(files.filter(\.holdsPolicy).map(\.name) + ShippedPolicies.all.map(\.name))
    return names.sorted(by: Self.precedes)
  }

  /// The default first, then by name.
  static func precedes(_ name: String, _ other: String) -> Bool {
    (name == "default" ? 0 : 1, name) < (other == "default" ? 0 : 1, other)
  }
}
