import ArgumentParser
import Feedimg

/// The facts that only an application knows.
struct DeclarationOption: ParsableArguments {
  @Option("fact=values", "Define a fact of your application, such as on-screen=no,yes; may be repeated.")
  var declare: [String] = []

  /// - Throws: ``CommandFailure`` with status 2 for a value without `=`.
  func declared() throws(CommandFailure) -> [HostFact] {
    try declare.map { text throws(CommandFailure) in
      let example = "--declare \(text): expected a fact and its values, such as `on-screen=no,yes`"
      let fact = try SituationOverride(text, source: "--declare", expected: example)
      let values = fact.value.split(separator: ",").map(Self.words)
      return HostFact(name: Self.words(fact.fact), values: values)
    }
  }

  /// The words with single spaces in place of hyphens and spaces.
  private static func words(_ text: some StringProtocol) -> String {
    text.split { $0 == "-" || $0 == " " }.joined(separator: " ")
  }
}
