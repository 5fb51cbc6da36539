import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy table`: what a policy decides.
struct PolicyTableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "table",
    abstract: "Print what a policy decides in every state, after the laws.",
    discussion: """
      Each row is a group of states in which one rule decides the same; the rows together hold every state once. \
      Facts that are given leave the rows that concern them.

      EXAMPLES
        feedimg policy table
        feedimg policy table default network=cellular
        feedimg policy table budgeted budget-left='10 MB' metered=yes
        feedimg policy table default --all --json | jq 'map(select(.load == "original")) | length'

      A table that is wider than the terminal is broken; COLUMNS tells another width.
      With --json --all the array has one object for each state, in the order of the facts, the last fastest.
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var policy = "default"
  @OptionGroup var facts: FactArguments
  @Flag(help: "Print every single state, instead of few rows.") var all = false
  @Flag(help: "Print a JSON array, one object a line.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let listing = try options.policies().table(policy, fixing: try facts.given(), everyState: all)
    if json {
      Output.line(listing.json)
    } else {
      for line in PolicyTableText.lines(listing.cells, width: Output.width) { Output.line(line) }
    }
    for warning in listing.warnings { Output.complain(warning) }
    if listing.hasGap { throw CommandFailure(.failure) }
  }
}
