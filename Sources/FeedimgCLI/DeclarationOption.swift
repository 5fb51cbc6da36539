import ArgumentParser
import Feedimg

/// The facts of an application, which alone knows them.
struct DeclarationOption: ParsableArguments {
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A fact that your application defines, such as on-screen=no,yes; may be given several times.",
      valueName: "fact=values"
    )
  )
  var declare: [String] = []

  /// - Throws: ``CommandFailure`` with status 2 for one without `=`.
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

  /// In single spaces, also where they were typed as hyphens.
  private static func words(_ text: some StringProtocol) -> String {
    text.split { $0 == "-" || $0 == " " }.joined(separator: " ")
  }
}
