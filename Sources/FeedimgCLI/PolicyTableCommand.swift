import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy table`: the decisions of a policy.
struct PolicyTableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "table",
    abstract: "Print the decisions of a policy in all states.",
    discussion: """
      Each row is a group of states with the same rule and decision; every state is in one row. Given facts restrict \
      the table to matching states.

      EXAMPLES
        feedimg policy table
        feedimg policy table default network=cellular
        feedimg policy table budgeted budget-left='10 MB' metered=yes
        feedimg policy table default --all --json | jq 'map(select(.load == "original")) | length'

      The table wraps at the width of the terminal, or of the variable COLUMNS if it is set. With --json --all, the \
      array has one object for each state, ordered by the facts; the last fact varies fastest.
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var policy = "default"
  @OptionGroup var facts: FactArguments
  @Flag(help: "Print every state instead of a few rows.") var all = false
  @Flag(help: "Print a JSON array, one object per line.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let listing = try options.policies().table(policy, fixing: try facts.given(), everyState: all)
    if json {
      Output.line(listing.json)
    } else {
      for line in PolicyTableText.lines(listing.cells, width: Output.width) { Output.line(line) }
    }
    Output.report(listing.warnings)
    if listing.hasGap { throw CommandFailure(.failure) }
  }
}
