import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy`: the policies.
struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Show, check, compare and test policies.",
    discussion: """
      A policy is a Markdown table. The columns left of the arrow are facts. The first row that matches decides, and \
      the word right of the arrow is the best image that may be shown. These commands check all states of a policy, \
      so their results are exact.

        | original | network        | → image   |
        |----------|----------------|-----------|
        | cached   | -              | original  |
        | -        | wifi, ethernet | original  |
        | -        | -              | thumbnail |

      Commands accept a name that `feedimg policy list` shows, or the path of a file. NAME.md in \
      $XDG_CONFIG_HOME/feedimg/policies (~/.config/feedimg/policies) replaces NAME.md in /etc/feedimg/policies, \
      which replaces the built-in policy NAME. The policy `default` is in force unless --policy names another.

      EXAMPLES
        feedimg policy table default network=cellular     print the decisions
        feedimg policy explain default network=cellular thumbnail=cached
        feedimg policy export default > mine.md           start your own policy
        feedimg policy check mine.md
        feedimg policy diff default mine.md --fail-if-more
        cp mine.md ~/.config/feedimg/policies/default.md  put it in force
        feedimg policy which

      EXIT STATUS
        0  success
        1  a policy has errors, a test case failed, or --fail-if-more applies
        2  a file cannot be read, or the command is invalid
      """,
    subcommands: [
      PolicyListCommand.self, PolicyWhichCommand.self, PolicyTableCommand.self, PolicyExplainCommand.self,
      PolicyCheckCommand.self, PolicyTestCommand.self, PolicyDiffCommand.self, PolicyExportCommand.self,
    ],
    defaultSubcommand: PolicyListCommand.self
  )
}
