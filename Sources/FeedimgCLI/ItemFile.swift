import Feedimg

/// A file of items that is named on the command line; `-` is standard input.
struct ItemFile {
  let path: String

  /// All items.
  ///
  /// - Throws: ``CommandFailure`` with status 2, the file and what is wrong with it.
  func items() throws(CommandFailure) -> [FeedItem] {
    var items: [FeedItem] = []
    try forEachBatch { batch, _ throws(CommandFailure) in items += batch }
    return items
  }

  /// Reads the items in batches, so that memory stays flat however long the feed is.
  ///
  /// - Parameter take: Gets each batch, and whether it is the last one. A batch may be empty.
  /// - Throws: ``CommandFailure`` with status 2, the file, the line and the error. Earlier batches are valid.
  func forEachBatch(_ take: ([FeedItem], Bool) throws(CommandFailure) -> Void) throws(CommandFailure) {
    let file = InputFile(path: path)
    var reader = FeedItemReader()
    var beginning: [UInt8] = []
    var isItems = false
    try file.forEachPiece { piece, isLast throws(CommandFailure) in
      if !isItems { beginning += piece.prefix(OtherFeed.prefixLength - beginning.count) }
      let batch: [FeedItem]
      do throws(FeedItemError) {
        batch = try reader.read(piece, isLast: isLast)
      } catch {
        if !isItems, let other = OtherFeed(beginning, notReadFor: error) { throw Self.failure(file, other) }
        let place = [error.line, error.column].compactMap { $0 }.map { ":\($0)" }.joined()
        throw CommandFailure(.usage, "\(file.name)\(place): \(error.withoutLine)")
      }
      isItems = isItems || !batch.isEmpty
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
