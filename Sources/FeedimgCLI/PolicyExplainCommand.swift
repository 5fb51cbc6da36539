import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy explain`: how a policy comes to a decision.
struct PolicyExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Tell which rules a policy tries in a situation, and why each applies or not.",
    discussion: """
      A fact that is not given is one that nobody knows: network other, metered unknown, roaming no, data saver \
      off, always original no, original and thumbnail remote, every quantity unknown. --live asks this machine for \
      its network and settings instead. --verbose shows what counted, and whence it came.

      EXAMPLES
        feedimg policy explain default network=cellular thumbnail=cached
        feedimg policy explain budgeted metered=yes budget-left='1.2 GB' size='250 kB'
        feedimg policy explain data-saver --live --verbose
        feedimg policy explain mine.md on-screen=yes --declare on-screen=no,yes

      What is decided for an item here and now, `feedimg resolve --verbose` tells.
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var policy: String
  @OptionGroup var facts: FactArguments
  @Flag(help: "Ask this machine for what is not given.") var live = false
  @Flag(name: .shortAndLong, help: "Show every fact with its source.") var verbose = false
  @Flag(help: "Print one JSON object.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let account = try options.policies().explain(policy, given: try facts.given(), isLive: live)
    for warning in account.warnings { Output.complain(warning) }
    if json { return Output.line(account.json) }
    for line in account.lines { Output.line(PolicyText.step(line)) }
    if verbose { for line in ResolutionText.facts(account.facts) { Output.line(line) } }
  }
}
