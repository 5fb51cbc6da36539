import ArgumentParser
import Feedimg

/// Facts as arguments instead of options.
struct FactArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Known facts, such as network=cellular or budget-left='1.2 GB'.",
      valueName: "fact=value"
    )
  )
  var facts: [String] = []

  /// - Throws: ``CommandFailure`` with status 2 for an argument without `=`.
  func given() throws(CommandFailure) -> [SituationOverride] {
    try facts.map { text throws(CommandFailure) in
      let example = "expected a fact and its value, such as `network=cellular`, found `\(text)`"
      return try SituationOverride(text, source: "given", expected: example)
    }
  }
}
