import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy check`: checks policies for errors.
struct PolicyCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Find errors in policies: gaps, rules without effect, broken promises.",
    discussion: """
      Checks every state that the rules distinguish, so the result is exact.

      Errors are syntax errors, states without a rule, rules that never match or are never reached, and broken \
      promises. Warnings are rules that change nothing, loads that grow with the cost of data, and hidden cached \
      originals. feedimg does not use a policy with errors.

      EXAMPLES
        feedimg policy check                     check all installed policies
        feedimg policy check mine.md
        feedimg policy check Policies/ --strict
        feedimg policy check mine.md --json | jq -r '.findings[].message'

      Ends with 0 if all are valid, 1 if there are errors, 2 if a policy cannot be read.
      """
  )

  @Argument(
    help: ArgumentHelp("Names, files and folders (default: all policies).", valueName: "policy"),
    completion: .policy
  )
  var policies: [String] = []

  @Flag(help: "Treat warnings as errors.") var strict = false
  @Flag(help: "Print one line of JSON for each policy.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let verdicts = try options.policies().check(policies, isStrict: strict)
    for verdict in verdicts {
      if json {
        Output.line(verdict.json)
      } else if verdict.outcome == .unreadable {
        for remark in verdict.remarks { Output.report(remark.text) }
      } else {
        Output.line(PolicyText.verdict(verdict))
      }
    }
    if verdicts.contains(where: { $0.outcome == .unreadable }) { throw CommandError(.usage) }
    if verdicts.contains(where: { $0.outcome == .errors }) { throw CommandError(.failure) }
  }
}

/// `feedimg policy diff`: the differences of two policies.
struct PolicyDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare the decisions of two policies in all states.",
    discussion: """
      Prints the states in which the policies show or load something different, first those in which the second \
      loads less. Other columns, such as `upgrade`, are not compared.

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
    if failsIfMore, comparison.moreCount > 0 { throw CommandError(.failure) }
  }
}
