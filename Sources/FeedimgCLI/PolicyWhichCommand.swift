import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy which`: the policy in force and its origin.
struct PolicyWhichCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "which",
    abstract: "Print the policy in force, its file, and the errors of other files.",
    discussion: """
      Lists all places that were searched, the first choice first. A file with errors is refused, and the next \
      place is used. A running program keeps the last valid version.

      EXAMPLES
        feedimg policy which
        feedimg policy which data-saver
        feedimg policy which --json | jq -r .file
      """
  )

  @Argument(help: "A name or a file (default: the policy in force).", completion: .policy) var policy: String?
  @Flag(help: "Print one JSON object.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let status = try options.policies().status(of: policy)
    Output.line(json ? status.json : PolicyText.status(status))
  }
}
