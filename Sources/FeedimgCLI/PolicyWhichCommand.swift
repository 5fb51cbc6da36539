import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy which`: the policy in force, and why.
struct PolicyWhichCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "which",
    abstract: "Tell which policy decides, where it comes from, and why a file is refused.",
    discussion: """
      Lists every place that was looked at, the one that counts first in front. A file that is not in order is \
      refused, and the next place counts; a program that runs goes on with the version that it last read in order.

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
    let standing = try options.policies().standing(of: policy)
    Output.line(json ? standing.json : PolicyText.standing(standing))
  }
}
