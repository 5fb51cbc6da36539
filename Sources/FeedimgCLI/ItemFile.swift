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
    try file.forEachPiece { piece, isLast throws(CommandFailure) in
      let batch: FeedItemBatch
      do throws(FeedItemError) {
        batch = try reader.read(piece, isLast: isLast)
      } catch {
        let place = [error.line, error.column].compactMap { $0 }.map { ":\($0)" }.joined()
        throw CommandFailure(.usage, "\(file.name)\(place): \(error.withoutLine)")
      }
      try take(batch, isLast)
    }
  }
}
