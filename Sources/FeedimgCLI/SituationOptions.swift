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

  @Option("fact=values", HostFact.optionHelp) var declare: [String] = []
  @Option(.cache) var cacheFolder: String?
  @Option(.configuration) var configurationFolder: String?

  /// - Throws: ``CommandError`` with status 2 for a `--set` or a `--declare` without `=`.
  func configuration() throws(CommandError) -> ImageLoader.Configuration {
    var configuration = ImageLoader.Configuration(
      cacheFolder: cacheFolder,
      configurationFolder: configurationFolder
    )
    configuration.hostFacts = try HostFact.declared(declare)
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
  /// - Throws: ``CommandError`` with status 2 and the message `expected`, without the `=`.
  init(_ text: String, source: String, expected: String) throws(CommandError) {
    guard let fact = SituationOverride(pair: text, source: source) else {
      throw CommandError(.usage, expected)
    }
    self = fact
  }
}

/// The option `--declare`, for facts that only an application knows.
extension HostFact {
  static let optionHelp = "Define a fact of your application, such as on-screen=no,yes; may be repeated."

  /// The facts in the values of the option.
  ///
  /// - Throws: ``CommandError`` with status 2 for a value without `=`.
  static func declared(_ texts: [String]) throws(CommandError) -> [HostFact] {
    try texts.map { text throws(CommandError) in
      guard let fact = HostFact(pair: text) else {
        let expected = "expected a fact and its values, such as `on-screen=no,yes`"
        throw CommandError(.usage, "--declare \(text): \(expected)")
      }
      return fact
    }
  }
}

/// Facts as arguments instead of options.
struct FactArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Known facts, such as network=cellular or budget-left='1.2 GB'.",
      valueName: "fact=value"
    )
  )
  var facts: [String] = []

  /// - Throws: ``CommandError`` with status 2 for an argument without `=`.
  func given() throws(CommandError) -> [SituationOverride] {
    try facts.map { text throws(CommandError) in
      let example = "expected a fact and its value, such as `network=cellular`, found `\(text)`"
      return try SituationOverride(text, source: "given", expected: example)
    }
  }
}
