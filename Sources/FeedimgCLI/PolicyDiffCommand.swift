import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy diff`: where two policies decide differently.
struct PolicyDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two policies in every state that either can tell apart.",
    discussion: """
      Tells in which states something else is shown or loaded, those where less is loaded first. When to look \
      again is not compared.

      EXAMPLES
        feedimg policy diff default data-saver
        feedimg policy diff default mine.md --fail-if-more    a gate: not dearer

      Ends with 0 whether or not they differ; with --fail-if-more with 1 if the second loads more anywhere.
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var old: String
  @Argument(help: "Another one.", completion: .policy) var new: String
  @Flag(name: .customLong("fail-if-more"), help: "End with 1 if the second one loads more in any state.")
  var failsIfMore = false
  @Flag(help: "Print one JSON object.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let comparison = try options.policies().compare(old, new)
    for warning in comparison.warnings { Output.complain(warning) }
    Output.line(json ? comparison.json : PolicyText.comparison(comparison))
    if failsIfMore, comparison.moreCount > 0 { throw CommandFailure(.failure) }
  }
}
