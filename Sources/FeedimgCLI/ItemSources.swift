import Feedimg
import FeedimgFeeds

/// Files and image URLs that are read as items.
struct ItemSources {
  /// Paths and URLs; `-` is standard input.
  let paths: [String]
  /// The format and the base of the files.
  let reader: FeedReader

  /// The most warnings about invalid items of a file; with more, the file is probably not a feed.
  private static let maximumWarningCount = 20

  /// Reads the items in batches, so that memory does not grow with the length of item files.
  ///
  /// - Parameter take: Receives each batch, and whether it is the last one. A batch may be empty.
  /// - Returns: `failure` if invalid items were skipped, each with a warning; `usage` if no item was valid.
  /// - Throws: ``CommandFailure`` with status 2, the file, the line and the error. Earlier batches are valid.
  func forEachBatch(
    _ take: ([FeedItem], Bool) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> ExitStatus {
    var total = (items: 0, faults: 0)
    for (index, path) in paths.enumerated() {
      let isLastPath = index == paths.count - 1
      if path.contains("://") {
        let url = try ImageURL(path, expected: "expected a file or an http or https URL")
        let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
        try take([item], isLastPath)
        total.items += 1
      } else {
        let count = try read(InputFile(path: path)) { batch, isLast throws(CommandFailure) in
          try take(batch, isLast && isLastPath)
        }
        total.items += count.items
        total.faults += count.faults
      }
    }
    return total.faults == 0 ? .success : total.items == 0 ? .usage : .failure
  }

  private func read(
    _ file: InputFile,
    _ take: ([FeedItem], Bool) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> (items: Int, faults: Int) {
    var document = ItemDocument(name: file.name, reader: reader)
    var count = (items: 0, faults: 0)
    try file.forEachPiece { piece, isLast throws(CommandFailure) in
      let part = try document.read(piece, isLast: isLast)
      if reader.isStrict, let fault = part.faults.first { throw CommandFailure(.usage, fault) }
      for fault in part.faults.prefix(max(0, Self.maximumWarningCount - count.faults)) {
        Output.report(fault)
      }
      count.items += part.items.count
      count.faults += part.faultCount
      try take(part.items, isLast)
    }
    let silent = count.faults - Self.maximumWarningCount
    if silent > 0 { Output.report("\(file.name): \(silent) more invalid items") }
    if count.items + count.faults == 0 { Output.report("\(file.name): contains no items") }
    return count
  }
}

extension ImageURL {
  /// Reads a URL of the command line.
  ///
  /// - Throws: ``CommandFailure`` with status 2 and a message that begins with `expected`.
  init(_ text: String, expected: String) throws(CommandFailure) {
    do throws(ImageURLError) {
      self = try ImageURL(text)
    } catch {
      throw CommandFailure(.usage, "\(expected), but `\(ImageURL.withoutCredentials(text))` \(error)")
    }
  }
}
