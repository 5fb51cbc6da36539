import Feedimg
import FeedimgFeeds

/// A file that is read in pieces: items as they come, or a document of another format at its end.
struct ItemDocument {
  /// What a piece adds.
  struct Part {
    var items: [FeedItem] = []
    /// Messages about invalid items, with the file.
    var faults: [String] = []
    /// The number of invalid items, including those without a message.
    var faultCount = 0
  }

  /// The name of the file for messages.
  private let name: String
  private var feed: FeedReader
  private var items = FeedItemReader()
  /// Whether the file contains items; nil as long as it may have another format.
  private var hasItems: Bool?
  /// The file so far, unless it contains items.
  private var bytes: [UInt8] = []

  init(name: String, reader: FeedReader) {
    self.name = name
    feed = reader
    if reader.format != nil { hasItems = false }
  }

  /// Reads the next piece.
  ///
  /// - Throws: ``CommandError`` with status 2, the file, the line and the error, for a file that cannot be read on.
  mutating func read(_ piece: ArraySlice<UInt8>, isLast: Bool) throws(CommandError) -> Part {
    if hasItems != true { bytes += piece }
    if hasItems != false, let part = try readItems(piece, isLast: isLast) { return part }
    guard isLast || bytes.count > FeedReader.maximumLength else { return Part() }
    defer { bytes = [] }
    do throws(FeedError) {
      let document = try feed.read(bytes)
      let faults = document.warnings.map { "\(name): \($0)" }
      return Part(items: document.items, faults: faults, faultCount: document.warningCount)
    } catch {
      let place = [error.line, error.column].compactMap { $0 }.map { ":\($0)" }.joined()
      throw CommandError(.usage, "\(name)\(place): \(error.message)")
    }
  }

  /// - Returns: Nil if the file has another format, which it then sets.
  private mutating func readItems(_ piece: ArraySlice<UInt8>, isLast: Bool) throws(CommandError) -> Part? {
    let entries: [Result<FeedItem, FeedItemError>]
    do throws(FeedItemError) {
      entries = try items.entries(in: piece, isLast: isLast)
    } catch {
      if isOther(error) { return nil }
      var error = error
      if let markup = FeedFormat.unknownMarkup(bytes, option: "--from html") { error.message = markup }
      throw CommandError(.usage, message(error))
    }
    if case .failure(let error)? = entries.first, isOther(error) { return nil }
    if !entries.isEmpty { (hasItems, bytes) = (true, []) }
    var part = Part()
    part.items.reserveCapacity(entries.count)
    for entry in entries {
      switch entry {
      case .success(let item): part.items.append(item)
      case .failure(let error):
        part.faults.append(message(error))
        part.faultCount += 1
      }
    }
    return part
  }

  private mutating func isOther(_ error: FeedItemError) -> Bool {
    guard hasItems == nil, let format = FeedFormat(detecting: bytes, notReadFor: error) else { return false }
    (hasItems, feed.format) = (false, format)
    return true
  }

  private func message(_ error: FeedItemError) -> String {
    let place = [error.line, error.column].compactMap { $0 }.map { ":\($0)" }.joined()
    return "\(name)\(place): \(error.withoutLine)"
  }
}
