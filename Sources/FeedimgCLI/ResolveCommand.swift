import ArgumentParser
import Feedimg

/// `feedimg resolve`: prints the image to show now, and why.
struct ResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Print which image of an item to show now, and why, without loading it.",
    discussion: """
      Reads the network, the settings and the cache, and prints the decision of the policy. It downloads and changes \
      nothing. Options replace what it reads, so that you can reproduce any situation.

      EXAMPLES
        feedimg resolve item.json
        feedimg resolve https://x.example/a.jpg --network cellular
        feedimg resolve --item item.json --network cellular --set always-original=yes
        feedimg resolve --item feed.jsonl --json | jq -r .url
        feedimg resolve --item item.json --declare on-screen=no,yes --set on-screen=yes --policy mine.md

      A feed may have any length, since it is read in pieces of 256 KiB. An invalid item is skipped, with a warning \
      that names its line. Text that is not JSON ends the command. The items of that piece and of all later pieces \
      are then not printed.

      Ends with 0 for every decision, with 1 if items were skipped, and with 2 if no item or an option is valid.
      """
  )

  @OptionGroup var input: ItemInput
  @Flag(help: "Print one line of JSON for each item.") var json = false
  @OptionGroup var situation: SituationOptions

  @Flag(name: .shortAndLong, help: "Show every fact with its source.")
  var verbose = false

  func run() throws {
    let loader = try ImageLoader(try situation.configuration())
    var printer = ResolutionPrinter(isVerbose: verbose)
    let status = try input.forEachBatch { items, isLast throws(CommandError) in
      if json {
        loader.resolve(
          items,
          asLines: { lines in
            Output.report(loader.warnings)
            Output.document(lines)
          }
        )
      } else {
        let resolutions = loader.resolve(items)
        Output.report(loader.warnings)
        printer.show(resolutions, areLast: isLast)
      }
    }
    // The process ends with the loader open. Closing its cache would take a twentieth of the time.
    withExtendedLifetime(loader) { Output.exit(status) }
  }
}

/// Prints resolutions as text, with numbers if there are several.
struct ResolutionPrinter {
  let isVerbose: Bool
  private(set) var count = 0
  /// The first resolution, until it is known whether others follow.
  private(set) var first: Resolution?

  mutating func show(_ resolutions: [Resolution], areLast: Bool) {
    var pending = resolutions[...]
    var lines: [String] = []
    if count == 0, first == nil { first = pending.popFirst() }
    if let only = first, areLast || !pending.isEmpty {
      first = nil
      count = 1
      lines.append(text(only, number: pending.isEmpty ? nil : 1))
    }
    for resolution in pending {
      count += 1
      lines.append(text(resolution, number: count))
    }
    guard !lines.isEmpty else { return }
    Output.line(lines.joined(separator: "\n"))
  }

  private func text(_ resolution: Resolution, number: Int?) -> String {
    ResolutionText.text(resolution, number: number, isVerbose: isVerbose)
  }
}
