import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy`: the tables that decide.
struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Read, check, compare and test the tables that decide.",
    discussion: """
      A policy is a Markdown table: columns left of the arrow are facts, the first row that applies decides, and \
      the word right of the arrow is the best image that may be shown. The table has few states, so that every \
      answer here is exact: all of them are gone through.

        | original | network        | → image   |
        |----------|----------------|-----------|
        | cached   | -              | original  |
        | -        | wifi, ethernet | original  |
        | -        | -              | thumbnail |

      A policy is named as `feedimg policy list` shows it, or by the path of its file. NAME.md in \
      $XDG_CONFIG_HOME/feedimg/policies (~/.config/feedimg/policies) replaces the one in /etc/feedimg/policies, and \
      that the one that comes with feedimg. The one called default decides, unless --policy names another.

      EXAMPLES
        feedimg policy table default network=cellular     what is decided when
        feedimg policy explain default network=cellular thumbnail=cached
        feedimg policy export default > mine.md           begin your own
        feedimg policy check mine.md
        feedimg policy diff default mine.md --fail-if-more
        cp mine.md ~/.config/feedimg/policies/default.md  let it decide
        feedimg policy which

      EXIT STATUS
        0  in order
        1  errors: a slip, a gap, a broken promise, a failed case; --fail-if-more
        2  nothing could be read, or the command was not understood
      """,
    subcommands: [
      PolicyListCommand.self, PolicyWhichCommand.self, PolicyTableCommand.self, PolicyExplainCommand.self,
      PolicyCheckCommand.self, PolicyTestCommand.self, PolicyDiffCommand.self, PolicyExportCommand.self,
    ],
    defaultSubcommand: PolicyListCommand.self
  )
}
