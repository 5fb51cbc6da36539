import Feedimg
import FeedimgFeeds
import FeedimgSystem
import Glibc

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
  /// - Throws: ``CommandError`` with status 2, the file, the line and the error. Earlier batches are valid.
  func forEachBatch(
    _ take: ([FeedItem], Bool) throws(CommandError) -> Void
  ) throws(CommandError) -> ExitStatus {
    var total = (items: 0, faults: 0)
    for (index, path) in paths.enumerated() {
      let isLastPath = index == paths.count - 1
      if path.contains("://") {
        let url = try ImageURL(path, expected: "expected a file or an http or https URL")
        let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
        try take([item], isLastPath)
        total.items += 1
      } else {
        let count = try read(InputFile(path: path)) { batch, isLast throws(CommandError) in
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
    _ take: ([FeedItem], Bool) throws(CommandError) -> Void
  ) throws(CommandError) -> (items: Int, faults: Int) {
    var document = ItemDocument(name: file.name, reader: reader)
    var count = (items: 0, faults: 0)
    try file.forEachPiece { piece, isLast throws(CommandError) in
      let part = try document.read(piece, isLast: isLast)
      if reader.isStrict, let fault = part.faults.first { throw CommandError(.usage, fault) }
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
  /// - Throws: ``CommandError`` with status 2 and a message that begins with `expected`.
  init(_ text: String, expected: String) throws(CommandError) {
    do throws(ImageURLError) {
      self = try ImageURL(text)
    } catch {
      throw CommandError(.usage, "\(expected), but `\(ImageURL.shown(text))` \(error)")
    }
  }
}

/// A file named on the command line; `-` is standard input.
struct InputFile {
  let path: String

  /// The most bytes of a piece.
  private static let pieceLength = 1 << 18

  /// The name for messages.
  var name: String { path == "-" ? "standard input" : path }

  /// Reads the file in pieces; a piece ends when more bytes would have to be waited for.
  ///
  /// - Parameter take: Receives each piece, and whether it is the last, which may be empty.
  /// - Throws: ``CommandError`` with status 2 and the system's reason, or the error of `take`.
  func forEachPiece(
    _ take: (ArraySlice<UInt8>, Bool) throws(CommandError) -> Void
  ) throws(CommandError) {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { if path != "-" { close(descriptor) } }
    var room = [UInt8](repeating: 0, count: Self.pieceLength)
    var isLast = false
    while !isLast {
      var (count, error): (Int, Int32) = (0, 0)
      room.withUnsafeMutableBytes { buffer in
        while count < buffer.count, !isLast, error == 0, count == 0 || Self.isReady(descriptor) {
          let read = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
          if read > 0 {
            count += read
          } else if read == 0 {
            isLast = true
          } else if errno == EAGAIN {
            _ = Self.isReady(descriptor, timeout: -1)
          } else if errno != EINTR {
            error = errno
          }
        }
      }
      guard error == 0 else { throw failure(error) }
      try take(room[..<count], isLast)
    }
  }

  /// Whether reading would not block: bytes are available, or the file has ended.
  private static func isReady(_ descriptor: Int32, timeout: Int32 = 0) -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, timeout) > 0
  }

  private func failure(_ code: Int32) -> CommandError {
    CommandError(.usage, "\(name): cannot read: \(FileError.words(for: code))")
  }
}
