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

  /// All items.
  ///
  /// - Throws: ``CommandFailure`` with status 2, the file and what is wrong with it.
  func items() throws(CommandFailure) -> [FeedItem] { try ItemFile(path: item).items() }

  /// See ``ItemFile/forEachBatch(_:)``.
  func forEachBatch(_ take: ([FeedItem], Bool) throws(CommandFailure) -> Void) throws(CommandFailure) {
    try ItemFile(path: item).forEachBatch(take)
  }
}
