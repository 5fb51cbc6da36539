import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy diff`: the differences of two policies.
struct PolicyDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare the decisions of two policies in all states.",
    discussion: """
      Prints the states in which the policies show or load something different, first those in which the second \
      loads less. The column `upgrade` is not compared.

      EXAMPLES
        feedimg policy diff default data-saver
        feedimg policy diff default mine.md --fail-if-more    fail if mine.md costs more

      Ends with 0, or with --fail-if-more with 1 if the second policy loads more in any state.
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var old: String
  @Argument(help: "Another name or file.", completion: .policy) var new: String
  @Flag(name: .customLong("fail-if-more"), help: "End with 1 if the second policy loads more in any state.")
  var failsIfMore = false
  @Flag(help: "Print one JSON object.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let comparison = try options.policies().compare(old, new)
    Output.report(comparison.warnings)
    Output.line(json ? comparison.json : PolicyText.comparison(comparison))
    if failsIfMore, comparison.moreCount > 0 { throw CommandFailure(.failure) }
  }
}
