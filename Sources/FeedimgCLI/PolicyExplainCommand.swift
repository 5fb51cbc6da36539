import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy explain`: explains a decision of a policy.
struct PolicyExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain which rules a policy tries in a situation, and why each matches or not.",
    discussion: """
      Facts that are not given have these values: network other, metered unknown, roaming no, data saver off, \
      always original no, original and thumbnail remote, all quantities unknown. With --live, they come from the \
      network and settings of this machine. --verbose shows each fact and its source.

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
    let account = try options.policies().explain(policy, given: try facts.given(), isLive: live)
    Output.report(account.warnings)
    if json { return Output.line(account.json) }
    for line in account.lines { Output.line(PolicyText.step(line)) }
    if verbose { for line in ResolutionText.facts(account.facts) { Output.line(line) } }
  }
}
