import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy explain`: explains a decision of a policy.
struct PolicyExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain which rules a policy tries in a situation, and why each matches or not.",
    discussion: """
      Facts that are not given are unknown, no or off; the network is other, and both images are remote. With \
      --live, they come from the network and settings of this machine. --verbose shows each fact and its source.

      EXAMPLES
        feedimg policy explain default network=cellular thumbnail=cached
        feedimg policy explain budgeted metered=yes budget-left='1.2 GB' size='250 kB'
        feedimg policy explain data-saver --live --verbose
        feedimg policy explain mine.md on-screen=yes --declare on-screen=no,yes

      For the current decision on an item, run `feedimg resolve --verbose`.
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var policy: String
  @OptionGroup var facts: FactArguments
  @Flag(help: "Read the facts that are not given from this machine.") var live = false
  @Flag(name: .shortAndLong, help: "Show every fact with its source.") var verbose = false
  @Flag(help: "Print one JSON object.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let explanation = try options.policies().explain(policy, given: try facts.given(), isLive: live)
    Output.report(explanation.warnings)
    if json { return Output.line(explanation.json) }
    for line in explanation.lines { Output.line(PolicyText.step(line)) }
    if verbose { for line in ResolutionText.facts(explanation.facts) { Output.line(line) } }
  }
}

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
      for line in Self.lines(listing.cells, width: Output.width) { Output.line(line) }
    }
    Output.report(listing.warnings)
    if listing.hasGap { throw CommandError(.failure) }
  }

  /// A table or, if it would be too wide, a paragraph for each row.
  ///
  /// The first row has the names of the columns.
  private static func lines(_ rows: [[String]], width: Int?) -> [String] {
    guard let header = rows.first else { return [] }
    let table = Columns(rows, width: width).lines
    let widest = table.joined(separator: "\n").split(separator: "\n").map(\.count).max() ?? 0
    guard let width, widest > width else {
      return table.enumerated().map { $0 == 0 ? Output.bold($1) : $1 }
    }
    // The columns of the decision start with this one.
    let decided = header.firstIndex(of: "show now") ?? 0
    return rows.dropFirst().flatMap { row in
      let cells = Array(zip(header, row))
      let facts = cells[..<decided].filter { $0.1 != "-" }.map { "\($0) \($1)" }
      let outcome = cells[decided...].map { "\($0) \($1)" }.joined(separator: ", ")
      let when = facts.isEmpty ? "always" : facts.joined(separator: "; ")
      return WrappedText.lines(when, width: width, indent: "    ").map(Output.bold)
        + WrappedText.lines("  → " + outcome, width: width, indent: "    ")
    }
  }
}
