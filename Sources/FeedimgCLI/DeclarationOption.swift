import ArgumentParser
import Feedimg

/// The facts that only an application knows.
struct DeclarationOption: ParsableArguments {
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Define a fact of your application, such as on-screen=no,yes; may be repeated.",
      valueName: "fact=values"
    )
  )
  var declare: [String] = []

  /// - Throws: ``CommandFailure`` with status 2 for a value without `=`.
  func declared() throws(CommandFailure) -> [HostFact] {
    try declare.map { text throws(CommandFailure) in
      guard let fact = SituationOverride(text, source: "--declare") else {
        throw CommandFailure(
          .usage,
          "--declare \(text): expected a fact and its values, such as `on-screen=no,yes`"
        )
      }
      let values = fact.value.split(separator: ",").map(Self.words)
      return HostFact(name: Self.words(fact.fact), values: values)
    }
  }

  /// The words with single spaces in place of hyphens and spaces.
  private static func words(_ text: some StringProtocol) -> String {
    text.split { $0 == "-" || $0 == " " }.joined(separator: " ")
  }
}
