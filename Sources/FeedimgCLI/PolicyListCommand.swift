import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy list`: the installed policies.
struct PolicyListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print all policies; * marks the policy in force.",
    discussion: """
      EXAMPLES
        feedimg policy list
        feedimg policy list --json | jq -r .policy
      """
  )

  @Flag(help: "Print one line of JSON for each policy.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let entries = try options.policies().list()
    for line in json ? entries.map(\.json) : PolicyText.list(entries) { Output.line(line) }
  }
}
