import FeedimgPolicies
import FeedimgPolicy
import FeedimgSettings

/// All policies that there are: those that come with feedimg, and those in two folders, which replace them by name.
struct PolicyShelf: Sendable {
  let facts: FactCatalog
  /// The one that counts first in front.
  private let folders: [(layer: Policies.Layer, path: String)]

  /// - Throws: ``ConfigurationError`` for facts of the application that no table could spell.
  init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    do throws(FactError) {
      facts =
        configuration.hostFacts.isEmpty ? .standard : try FactCatalog(hosting: configuration.hostFacts)
    } catch {
      throw ConfigurationError([error.description])
    }
    let user =
      configuration.configurationFolder
      ?? (try? SettingsPaths(environment: configuration.environment).configFolder)
    let own = user.map { (Policies.Layer.user, $0) }
    folders = ([own, (.system, configuration.systemFolder)].compactMap { $0 }).map { layer, folder in
      (layer, PolicyFile(folder: folder, name: "policies").path)
    }
  }

  /// Where a policy of that name can come from, whether or not it does.
  func selection(named name: String) -> PolicySelection {
    let files = folders.flatMap { layer, folder in
      PolicyFile.policyEndings.map { ending in
        PolicySource(name: name, layer: layer, file: PolicyFile(folder: folder, name: name + ending))
      }
    }
    let isShipped = name == "default" || ShippedPolicies.all.contains { $0.name == name }
    let builtIn = isShipped ? [PolicySource(name: name, layer: .builtIn, file: nil)] : []
    return PolicySelection(name: name, sources: files + builtIn, facts: facts)
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
    let files = folders.flatMap { (try? PolicyFile.files(in: $0.path)) ?? [] }
    let names = Set(files.filter(\.holdsPolicy).map(\.name) + ShippedPolicies.all.map(\.name))
    return names.sorted(by: Self.precedes)
  }

  /// The default first, then by name.
  static func precedes(_ name: String, _ other: String) -> Bool {
    (name == "default" ? 0 : 1, name) < (other == "default" ? 0 : 1, other)
  }
}
