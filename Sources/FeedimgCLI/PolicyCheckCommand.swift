import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy check`: whether tables are in order.
struct PolicyCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Find every slip in policies: gaps, rules that do nothing, broken promises.",
    discussion: """
      Goes through every state that the rules can tell apart, so that nothing is guessed.

      Errors are slips in the text, states without a rule, rules that can never match or are never reached, and \
      broken promises. Warnings are rules that change nothing, more loaded where it is dearer, and cached originals \
      that are hidden. A policy with errors cannot be in force.

      EXAMPLES
        feedimg policy check                     all that `feedimg policy list` shows
        feedimg policy check mine.md
        feedimg policy check Policies/ --strict
        feedimg policy check mine.md --json | jq -r '.findings[].message'

      Ends with 0 if all are in order, 1 if there are errors, 2 if one could not be read.
      """
  )

  @Argument(
    help: ArgumentHelp("Names, files and folders (default: all policies).", valueName: "policy"),
    completion: .policy
  )
  var policies: [String] = []

  @Flag(help: "Let warnings count as errors.") var strict = false
  @Flag(help: "Print one JSON object for each policy, a line each.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let verdicts = try options.policies().check(policies, isStrict: strict)
    for verdict in verdicts {
      if json {
        Output.line(verdict.json)
      } else if verdict.outcome == .unreadable {
        for remark in verdict.remarks { Output.complain(remark.text) }
      } else {
        Output.line(PolicyText.verdict(verdict))
      }
    }
    if verdicts.contains(where: { $0.outcome == .unreadable }) { throw CommandFailure(.usage) }
    if verdicts.contains(where: { $0.outcome == .errors }) { throw CommandFailure(.failure) }
  }
}
