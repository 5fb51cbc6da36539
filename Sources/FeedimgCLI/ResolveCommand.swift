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
        feedimg resolve --item item.json --declare on-screen=no,yes --set on-screen=yes --policy mine.md

      A long feed is read and decided piece by piece, so that its length does not matter. An item that is not \
      understood ends the run, and is named by its line; nothing is decided about the 256 KiB that it stands in, \
      nor about what follows.

      Ends with 0 whatever the decision, and with 2 for an item or option that is not understood.
      """
  )

  @OptionGroup var input: ItemOption
  @OptionGroup var situation: SituationOptions

  @Flag(name: .shortAndLong, help: "Show every fact with its source.")
  var verbose = false

  func run() throws {
    let loader = try ImageLoader(try situation.configuration())
    var printer = ResolutionPrinter(isVerbose: verbose)
    try input.forEachBatch { items, isLast throws(CommandFailure) in
      if input.json {
        loader.resolve(
          items,
          asLines: { lines in
            complain(loader.warnings)
            Output.document(lines)
          }
        )
      } else {
        let resolutions = loader.resolve(items)
        complain(loader.warnings)
        printer.show(resolutions, areLast: isLast)
      }
    }
  }

  private func complain(_ warnings: [String]) {
    for warning in warnings { Output.complain(warning) }
  }
}
