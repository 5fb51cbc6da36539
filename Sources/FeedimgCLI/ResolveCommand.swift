import ArgumentParser
import Feedimg

/// `feedimg resolve`: what would be shown now, and why.
struct ResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Say which image of an item to show now, and why; fetch nothing.",
    discussion: """
      Looks at the network, the settings and the cache, asks the policy, and prints the decision. Nothing is \
      fetched and nothing is changed. The options replace what is seen, so that a situation can be reproduced.

      EXAMPLES
        feedimg resolve --item item.json
        feedimg resolve --item item.json --network cellular --set always-original=yes
        feedimg resolve --item feed.jsonl --json | jq -r .url

      Ends with 0 whatever the decision, and with 2 for an item or option that is not understood.
      """
  )

  @OptionGroup var input: ItemOption
  @OptionGroup var situation: SituationOptions

  @Flag(name: .shortAndLong, help: "Show every fact with its source.")
  var verbose = false

  func run() throws {
    let configuration = try situation.configuration()
    let items = try input.items()
    let loader = try ImageLoader(configuration)
    let resolutions = loader.resolve(items)
    for warning in loader.warnings { Output.complain(warning) }
    for (index, resolution) in resolutions.enumerated() {
      if input.json {
        Output.line(resolution.json)
      } else {
        let number = resolutions.count > 1 ? index + 1 : nil
        Output.line(ResolutionText(resolution, number: number, isVerbose: verbose).text)
      }
    }
  }
}
