import Feedimg

/// A file of items that is named on the command line; `-` is standard input.
struct ItemFile {
  let path: String

  /// All items.
  ///
  /// - Throws: ``CommandFailure`` with status 2, the file and what is wrong with it.
  func items() throws(CommandFailure) -> [FeedItem] {
    var items: [FeedItem] = []
    try forEachBatch { batch, _ throws(CommandFailure) in items += batch.items }
    return items
  }

  /// Hands over the items as they can be read, some at a time, so that a feed of any length takes little memory.
  ///
  /// - Parameter take: Called with each batch, and with whether it is the last, which may be empty.
  /// - Throws: ``CommandFailure`` with status 2, the file, the line and what is wrong with it; what was handed over
  ///   before was in order.
  func forEachBatch(_ take: (FeedItemBatch, Bool) throws(CommandFailure) -> Void) throws(CommandFailure) {
    let file = InputFile(path: path)
    var reader = FeedItemReader()
    var beginning: [UInt8] = []
    var isItems = false
    try file.forEachPiece { piece, isLast throws(CommandFailure) in
      if !isItems { beginning += piece.prefix(OtherFeed.prefixLength - beginning.count) }
      let batch: FeedItemBatch
      do throws(FeedItemError) {
        batch = try reader.read(piece, isLast: isLast)
      } catch {
        if !isItems, let other = OtherFeed(beginning, notReadFor: error) { throw Self.failure(file, other) }
        let place = [error.line, error.column].compactMap { $0 }.map { ":\($0)" }.joined()
        throw CommandFailure(.usage, "\(file.name)\(place): \(error.withoutLine)")
      }
      isItems = isItems || batch.count > 0
      try take(batch, isLast)
    }
  }

  private static func failure(_ file: InputFile, _ other: OtherFeed) -> CommandFailure {
    let expected = #"items such as `{"originalImage": "https://…", "thumbnailImage": "https://…"}`"#
    return CommandFailure(
      .usage,
      "\(file.name): expected \(expected), found what looks like \(other.rawValue)"
    )
  }
}
