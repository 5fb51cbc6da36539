import ArgumentParser
import Feedimg

/// Options that replace the facts of this machine, so that users can reproduce any situation.
struct SituationOptions: ParsableArguments {
  @Option(
    "kind",
    "Decide as if on this network: \(NetworkKind.allCases.map(\.rawValue).joined(separator: ", ")).",
    completion: .list(NetworkKind.allCases.map(\.rawValue))
  )
  var network: String?

  @Option(
    "value",
    "Decide as if the network were metered: yes, no or unknown.",
    completion: .list(Metered.allCases.map(\.rawValue))
  )
  var metered: String?

  @Option("fact=value", "Decide as if a fact had this value, such as always-original=yes; may be repeated.")
  var set: [String] = []

  @Option(
    "policy",
    "Use this policy: a file, or a name that `feedimg policy list` shows, such as data-saver.",
    completion: .policy
  )
  var policy: String?

  @OptionGroup var facts: DeclarationOption
  @OptionGroup var folders: CacheFolders

  /// - Throws: ``CommandFailure`` with status 2 for a `--set` or a `--declare` without `=`.
  func configuration() throws(CommandFailure) -> ImageLoader.Configuration {
    var configuration = folders.configuration
    configuration.hostFacts = try facts.declared()
    if let policy { configuration.policy = .named(policy) }
    for case (let fact, let value?) in [("network", network), ("metered", metered)] {
      configuration.overrides.append(SituationOverride(fact: fact, value: value, source: "--\(fact)"))
    }
    for text in set {
      let example = "--set \(text): expected a fact and its value, such as `always-original=yes`"
      configuration.overrides.append(try SituationOverride(text, source: "--set", expected: example))
    }
    return configuration
  }
}

extension SituationOverride {
  /// Reads `fact=value`.
  ///
  /// - Throws: ``CommandFailure`` with status 2 and the message `expected`, without the `=`.
  init(_ text: String, source: String, expected: String) throws(CommandFailure) {
    guard let equals = text.firstIndex(of: "=") else { throw CommandFailure(.usage, expected) }
    self.init(
      fact: String(text[..<equals]),
      value: String(text[text.index(after: equals)...]),
      source: source
    )
  }
}
