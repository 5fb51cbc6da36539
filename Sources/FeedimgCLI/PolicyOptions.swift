import ArgumentParser
import Feedimg
import FeedimgAdmin

/// Where policies are looked for, and what they may ask about.
struct PolicyOptions: ParsableArguments {
  @OptionGroup var facts: DeclarationOption
  @OptionGroup var folder: ConfigurationFolderOption

  /// - Throws: ``CommandFailure`` with status 2 for a `--declare` without `=`, or what the library says.
  func policies() throws -> Policies {
    var configuration = ImageLoader.Configuration()
    configuration.configurationFolder = folder.configurationFolder
    configuration.hostFacts = try facts.declared()
    return try Policies(configuration)
  }
}

extension CompletionKind {
  /// The name of a policy, or the path of one.
  static let policy = CompletionKind.custom { _, _, start in
    (try? Policies())?.completions(of: start) ?? Policies.shippedNames
  }
}
