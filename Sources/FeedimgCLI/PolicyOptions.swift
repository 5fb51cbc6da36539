import ArgumentParser
import Feedimg
import FeedimgAdmin

/// The folder of policies, and the facts of an application that they may use.
struct PolicyOptions: ParsableArguments {
  @OptionGroup var facts: DeclarationOption
  @OptionGroup var folder: ConfigurationFolderOption

  /// - Throws: ``CommandFailure`` with status 2 for a `--declare` without `=`, or an error of the library.
  func policies() throws -> Policies {
    var configuration = folder.configuration
    configuration.hostFacts = try facts.declared()
    return try Policies(configuration)
  }
}

extension CompletionKind {
  /// The name or path of a policy.
  static let policy = CompletionKind.custom { _, _, start in
    (try? Policies())?.completions(of: start) ?? Policies.shippedNames
  }
}
