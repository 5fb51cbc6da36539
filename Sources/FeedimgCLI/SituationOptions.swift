import ArgumentParser
import Feedimg

/// Options that replace the facts of this machine, so that users can reproduce any situation.
struct SituationOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Decide as if on this network: \(NetworkKind.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "kind"
    ),
    completion: .list(NetworkKind.allCases.map(\.rawValue))
  )
  var network: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Decide as if the network were metered: yes, no or unknown.", valueName: "value"),
    completion: .list(Metered.allCases.map(\.rawValue))
  )
  var metered: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Decide as if a fact had this value, such as always-original=yes; may be repeated.",
      valueName: "fact=value"
    )
  )
  var set: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Use this policy: a file, or a name that `feedimg policy list` shows, such as data-saver.",
      valueName: "policy"
    ),
    completion: .policy
  )
  var policy: String?

  @OptionGroup var facts: DeclarationOption
  @OptionGroup var cache: CacheFolderOption
  @OptionGroup var settings: ConfigurationFolderOption

  /// - Throws: ``CommandFailure`` with status 2 for a `--set` or a `--declare` without `=`.
  func configuration() throws(CommandFailure) -> ImageLoader.Configuration {
    var configuration = ImageLoader.Configuration()
    if let folder = cache.cacheFolder { configuration.cacheFolder = folder }
    if let folder = settings.configurationFolder { configuration.configurationFolder = folder }
    configuration.hostFacts = try facts.declared()
    if let policy { configuration.policy = .named(policy) }
    if let network {
      configuration.overrides.append(SituationOverride(fact: "network", value: network, source: "--network"))
    }
    if let metered {
      configuration.overrides.append(SituationOverride(fact: "metered", value: metered, source: "--metered"))
    }
    for text in set {
      guard let fact = SituationOverride(text, source: "--set") else {
        throw CommandFailure(
          .usage,
          "--set \(text): expected a fact and its value, such as `always-original=yes`"
        )
      }
      configuration.overrides.append(fact)
    }
    return configuration
  }
}

extension SituationOverride {
  /// Reads `fact=value`; nil without the `=`.
  init?(_ text: String, source: String) {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    self.init(
      fact: String(text[..<equals]),
      value: String(text[text.index(after: equals)...]),
      source: source
    )
  }
}
