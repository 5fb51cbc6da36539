import ArgumentParser
import Feedimg

/// The items that a command is about.
struct ItemOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A JSON file with one item, an array of items, or an item a line; - is standard input.",
      valueName: "file"
    ),
    completion: .file(extensions: ["json", "jsonl"])
  )
  var item: String

  @Flag(help: "Print one JSON object for each item, a line each.")
  var json = false

  /// - Throws: ``CommandFailure`` with status 2, the file and what is wrong with it.
  func items() throws(CommandFailure) -> [FeedItem] {
    let file = InputFile(path: item)
    let content = try file.read()
    do throws(FeedItemError) {
      return try FeedItem.items(json: content)
    } catch {
      throw CommandFailure(.usage, "\(file.name): \(error)")
    }
  }
}
