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
        feedimg resolve item.json
        feedimg resolve https://x.example/a.jpg --network cellular
        feedimg resolve --item item.json --network cellular --set always-original=yes
        feedimg resolve --item feed.jsonl --json | jq -r .url
        feedimg resolve --item item.json --declare on-screen=no,yes --set on-screen=yes --policy mine.md

      A long feed is read and decided piece by piece, so that its length does not matter. An entry that is not an \
      item is left out, with a warning that names its line. Text that is not JSON ends the run; nothing is decided \
      about the 256 KiB that it stands in, nor about what follows.

      Ends with 0 whatever the decision, with 1 if entries were left out, and with 2 if nothing or an option was \
      not understood.
      """
  )

  @OptionGroup var input: ItemInput
  @Flag(help: "Print one JSON object for each item, a line each.") var json = false
  @OptionGroup var situation: SituationOptions

  @Flag(name: .shortAndLong, help: "Show every fact with its source.")
  var verbose = false

  func run() throws {
    let loader = try ImageLoader(try situation.configuration())
    var printer = ResolutionPrinter(isVerbose: verbose)
    let status = try input.forEachBatch { items, isLast throws(CommandFailure) in
      if json {
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
    if status != .success { throw CommandFailure(status) }
  }

  private func complain(_ warnings: [String]) {
    for warning in warnings { Output.complain(warning) }
  }
}
