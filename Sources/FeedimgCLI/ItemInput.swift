import ArgumentParser
import Feedimg

/// The items for a command, from files and image URLs.
struct ItemInput: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A JSON file with one item, an array, or one item per line (- is standard input), or the URL of an image.",
      valueName: "file-or-url"
    ),
    completion: .file(extensions: ["json", "jsonl"])
  )
  var sources: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The same as an argument; may be repeated.", valueName: "file-or-url"),
    completion: .file(extensions: ["json", "jsonl"])
  )
  var item: [String] = []

  @Flag(help: "End with 2 at an invalid item, instead of skipping it.")
  var strict = false

  private var all: [String] { item + sources }

  /// The names of the sources for messages.
  var names: String { all.map { "`\(ImageURL.withoutCredentials($0))`" }.joined(separator: ", ") }

  /// The most warnings about invalid items of a file; with more, the file is probably not a feed.
  private static let maximumWarningCount = 20

  func validate() throws {
    guard !all.isEmpty else {
      throw ValidationError("expected items: a JSON file, the URL of an image, or - for standard input")
    }
    guard all.filter({ $0 == "-" }).count <= 1 else {
      throw ValidationError("standard input (-) can be read only once")
    }
  }

  /// All items, and the exit status for reading them; see ``forEachBatch(_:)``.
  func items() throws(CommandFailure) -> (items: [FeedItem], status: ExitStatus) {
    var items: [FeedItem] = []
    let status = try forEachBatch { batch, _ throws(CommandFailure) in items += batch }
    guard status != .usage else { throw CommandFailure(.usage) }
    return (items, status)
  }

  /// Reads the items in batches, so that memory does not grow with the length of the feed.
  ///
  /// - Parameter take: Receives each batch, and whether it is the last one. A batch may be empty.
  /// - Returns: `failure` if invalid items were skipped, each with a warning; `usage` if no item was valid.
  /// - Throws: ``CommandFailure`` with status 2, the file, the line and the error. Earlier batches are valid.
  func forEachBatch(
    _ take: ([FeedItem], Bool) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> ExitStatus {
    var total = Count()
    for (index, source) in all.enumerated() {
      let isLastSource = index == all.count - 1
      if source.contains("://") {
        try take([try Self.item(source)], isLastSource)
        total.items += 1
      } else {
        let count = try read(InputFile(path: source)) { batch, isLast throws(CommandFailure) in
          try take(batch, isLast && isLastSource)
        }
        total.items += count.items
        total.faults += count.faults
      }
    }
    return total.faults == 0 ? .success : total.items == 0 ? .usage : .failure
  }

  private struct Count {
    var items = 0
    var faults = 0
  }

  private func read(
    _ file: InputFile,
    _ take: ([FeedItem], Bool) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> Count {
    var reader = FeedItemReader()
    var beginning: [UInt8] = []
    var count = Count()
    try file.forEachPiece { piece, isLast throws(CommandFailure) in
      if count.items == 0 { beginning += piece.prefix(OtherFeed.prefixLength - beginning.count) }
      let entries: [Result<FeedItem, FeedItemError>]
      do throws(FeedItemError) {
        entries = try reader.entries(in: piece, isLast: isLast)
      } catch {
        let other = count.items == 0 ? OtherFeed(beginning, notReadFor: error) : nil
        throw CommandFailure(.usage, Self.message(file, error, other))
      }
      var batch: [FeedItem] = []
      batch.reserveCapacity(entries.count)
      for entry in entries {
        switch entry {
        case .success(let item):
          batch.append(item)
          count.items += 1
        case .failure(let error):
          let isFirst = count.items + count.faults == 0
          let other = isFirst ? OtherFeed(beginning, notReadFor: error) : nil
          guard !strict, other == nil else { throw CommandFailure(.usage, Self.message(file, error, other)) }
          count.faults += 1
          if count.faults <= Self.maximumWarningCount { Output.report(Self.message(file, error, nil)) }
        }
      }
      try take(batch, isLast)
    }
    let silent = count.faults - Self.maximumWarningCount
    if silent > 0 { Output.report("\(file.name): \(silent) more invalid items") }
    if count.items + count.faults == 0 { Output.report("\(file.name): contains no items") }
    return count
  }

  private static func item(_ text: String) throws(CommandFailure) -> FeedItem {
    do throws(ImageURLError) {
      return FeedItem(original: ImageVariant(role: .original, url: try ImageURL(text)), thumbnail: nil)
    } catch {
      throw CommandFailure(
        .usage,
        "expected a file or an http or https URL, but `\(ImageURL.withoutCredentials(text))` \(error)"
      )
    }
  }

  private static func message(_ file: InputFile, _ error: FeedItemError, _ other: OtherFeed?) -> String {
    if let other {
      let expected = #"items such as `{"originalImage": "https://…", "thumbnailImage": "https://…"}`"#
      return "\(file.name): expected \(expected), found what looks like \(other.rawValue)"
    }
    let place = [error.line, error.column].compactMap { $0 }.map { ":\($0)" }.joined()
    return "\(file.name)\(place): \(error.withoutLine)"
  }
}
