import ArgumentParser
import Feedimg

/// Where policies are looked for, and what they may ask about.
struct PolicyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A fact that your application defines, such as on-screen=no,yes; may be given several times.",
      valueName: "fact=values"
    )
  )
  var declare: [String] = []

  @OptionGroup var folder: ConfigurationFolderOption

  /// - Throws: ``CommandFailure`` with status 2 for a `--declare` without `=`, or what the library says.
  func policies() throws -> Policies {
    var configuration = ImageLoader.Configuration()
    configuration.configurationFolder = folder.configurationFolder
    configuration.hostFacts = try declare.map { text throws(CommandFailure) in
      guard let fact = SituationOverride(text, source: "--declare") else {
        throw CommandFailure(
          .usage,
          "--declare \(text): expected a fact and its values, such as `on-screen=no,yes`"
        )
      }
      let values = fact.value.split(separator: ",").map(Self.words)
      return HostFact(name: Self.words(fact.fact), values: values)
    }
    return try Policies(configuration)
  }

  /// In single spaces, also where they were typed as hyphens.
  private static func words(_ text: some StringProtocol) -> String {
    text.split { $0 == "-" || $0 == " " }.joined(separator: " ")
  }
}

extension CompletionKind {
  /// The name of a policy, or the path of one.
  static let policy = CompletionKind.custom { _, _, start in
    (try? Policies())?.completions(of: start) ?? Policies.shippedNames
  }
}
