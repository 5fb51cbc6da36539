import ArgumentParser
import Feedimg
import FeedimgFeeds

/// The items for a command, from files and image URLs.
struct ItemInput: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A file with a feed or with items (one, an array, or one per line; - is standard input), or the URL of an image.",
      valueName: "file-or-url"
    ),
    completion: .file()
  )
  var sources: [String] = []

  @Option("file-or-url", "The same as an argument; may be repeated.", completion: .file())
  var item: [String] = []

  @OptionGroup var feed: FeedOptions

  private var all: [String] { item + sources }

  /// The names of the sources for messages.
  var names: String { all.map { "`\(ImageURL.withoutCredentials($0))`" }.joined(separator: ", ") }

  func validate() throws {
    guard !all.isEmpty else {
      throw ValidationError("expected items: a JSON file, the URL of an image, or - for standard input")
    }
    guard all.filter({ $0 == "-" }).count <= 1 else {
      throw ValidationError("standard input (-) can be read only once")
    }
  }

  /// All items, and the exit status for reading them; see ``forEachBatch(_:)``.
  func items() throws(CommandError) -> (items: [FeedItem], status: ExitStatus) {
    var items: [FeedItem] = []
    let status = try forEachBatch { batch, _ throws(CommandError) in items += batch }
    guard status != .usage else { throw CommandError(.usage) }
    return (items, status)
  }

  /// Reads the items in batches; see ``ItemSources/forEachBatch(_:)``.
  func forEachBatch(
    _ take: ([FeedItem], Bool) throws(CommandError) -> Void
  ) throws(CommandError) -> ExitStatus {
    try ItemSources(paths: all, reader: try feed.reader()).forEachBatch(take)
  }
}

/// The form of a document with items.
struct FeedOptions: ParsableArguments {
  @Option(
    "format",
    "The format of files: \(FeedFormat.names.joined(separator: ", ")); auto reads items, or detects a feed.",
    completion: .list(FeedFormat.names)
  )
  var from = "auto"

  @Option("url", "The address of the feed or page, for its relative URLs.") var base: String?

  @Flag(help: "End with 2 at an invalid item, instead of skipping it.")
  var strict = false

  /// - Throws: ``CommandError`` with status 2 for an unknown format or an invalid URL.
  func reader() throws(CommandError) -> FeedReader {
    let address = try base.map { text throws(CommandError) in
      try ImageURL(text, expected: "--base: expected an http or https URL")
    }
    do throws(FeedError) {
      return FeedReader(format: try FeedFormat.named(from), base: address, isStrict: strict)
    } catch {
      throw CommandError(.usage, "--from: \(error)")
    }
  }
}
