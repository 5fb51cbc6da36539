import FeedimgJSON

/// Reads the items of a document piece by piece, so that a feed of any length takes no more memory than a piece.
///
/// A document is one item, an array of items, or items one after another as in JSON lines.
public struct FeedItemReader: Sendable {
  /// A longer item is refused; in bytes.
  public static let greatestItemLength = 16 << 20

  private enum Form {
    case unknown
    case sequence
    /// An array, before its first element.
    case array
    /// An array, behind a comma.
    case comma
    /// An array, behind an element.
    case element
    /// Behind an array.
    case ended
  }

  private var form = Form.unknown
  private var itemCount = 0
  /// The part of the document that is looked at.
  ///
  /// Its room is used again where no batch refers to it any more.
  private var bytes: [UInt8] = []
  /// How much of ``bytes`` has been read.
  private var done = 0
  /// Where in the document ``bytes`` begins.
  private var position = (line: 1, column: 1)
  /// The items in ``bytes``.
  private var scanned: [ScannedItem] = []
  private var unusual: [FeedItem] = []
  /// What is left is not looked at before it is as long as this, so that a long item is not read for each piece.
  private var enough = 0

  /// What is longer is looked at again only when it has doubled; in bytes.
  private static let shortRest = 1 << 18

  /// Makes a reader that stands at the beginning of a document.
  public init() {}

  /// Reads on.
  ///
  /// - Parameters:
  ///   - piece: The bytes of the document that follow those before, in UTF-8; where they end does not matter.
  ///   - isLast: Whether the document ends here.
  /// - Returns: The items that are complete by now.
  /// - Throws: ``FeedItemError`` with the line, also for a document that ends without an item. None of the items of
  ///   the piece is then handed over, and the reader is of no use any more.
  public mutating func read(_ piece: ArraySlice<UInt8>, isLast: Bool) throws(FeedItemError) -> FeedItemBatch {
    forget()
    bytes += piece
    guard isLast || bytes.count >= enough else { return FeedItemBatch(bytes: [], scanned: [], unusual: []) }
    let bytes = bytes
    let failure: FeedItemError? = bytes.withUnsafeBufferPointer { bytes in
      do throws(FeedItemError) {
        done = try read(bytes, isLast: isLast)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    let rest = bytes.count - done
    enough = rest > Self.shortRest ? min(2 * rest, Self.greatestItemLength + 1) : 0
    guard rest <= Self.greatestItemLength else {
      let message = "an item is longer than \(Self.greatestItemLength >> 20) MiB"
      throw FeedItemError(path: nil, message: message, line: place(of: done).line)
    }
    return FeedItemBatch(bytes: bytes, scanned: scanned, unusual: unusual)
  }

  /// Lets go of what has been read.
  private mutating func forget() {
    position = place(of: done)
    bytes.removeSubrange(..<done)
    done = 0
    scanned.removeAll(keepingCapacity: true)
    unusual.removeAll()
  }

  /// Where in the document a byte stands.
  private func place(of offset: Int) -> (line: Int, column: Int) {
    bytes.withUnsafeBufferPointer { bytes in
      var lines = 0
      for index in 0..<offset { lines &+= bytes[index] == 0x0A ? 1 : 0 }
      guard lines > 0 else { return (position.line, position.column + offset) }
      let start = (bytes[..<offset].lastIndex(of: 0x0A) ?? 0) + 1
      return (position.line + lines, offset - start + 1)
    }
  }

  /// - Returns: How far the document could be read.
  private mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>,
    isLast: Bool
  ) throws(FeedItemError) -> Int {
    var reader = JSONReader(bytes: bytes)
    if case .unknown = form {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      if bytes.starts(with: mark) { reader.offset = 3 }
      if !isLast, bytes.count < 3, mark.starts(with: bytes) { return 0 }
    }
    while reader.skipWhiteSpace() {
      switch form {
      case .unknown: form = reader.take("[") ? .array : .sequence
      case .array where reader.take("]"): form = .ended
      case .array, .comma, .sequence:
        guard try readItem(&reader, isLast: isLast) else { return reader.offset }
        if form != .sequence { form = .element }
      case .element:
        if reader.take("]") {
          form = .ended
        } else {
          guard reader.take(",") else { throw notJSON(reader.unexpected("`,` or `]`")) }
          form = .comma
        }
      case .ended: throw notJSON(reader.fault("expected the end of the text"))
      }
    }
    guard isLast else { return reader.offset }
    switch form {
    case .array, .comma: throw notJSON(reader.unexpected("a JSON value"))
    case .element: throw notJSON(reader.unexpected("`,` or `]`"))
    case .unknown, .sequence, .ended: break
    }
    guard itemCount > 0 else { throw FeedItemError(path: nil, message: "expected an item, found none") }
    return reader.offset
  }

  /// - Returns: False where the item is not complete yet; the reader then stands at its beginning again.
  private mutating func readItem(_ reader: inout JSONReader, isLast: Bool) throws(FeedItemError) -> Bool {
    let start = reader.offset
    if let (item, end) = ItemScanner.item(in: reader.bytes, at: start) {
      scanned.append(item)
      reader.offset = end
      itemCount += 1
      return true
    }
    var ahead = JSONReader(bytes: UnsafeBufferPointer(rebasing: reader.bytes[start...]))
    let value: JSONValue
    do throws(JSONError) {
      value = try ahead.value()
    } catch {
      guard isLast || ahead.bytes.count - ahead.offset > JSONReader.greatestWord else { return false }
      throw notJSON(error, from: start)
    }
    reader.offset = start + ahead.offset
    itemCount += 1
    do throws(FeedItemError) {
      var item = ScannedItem()
      item.unusual = unusual.count
      unusual.append(try FeedItem(json: value))
      scanned.append(item)
      return true
    } catch {
      let isOnly = itemCount == 1 && !isFollowed(&reader)
      var error = isOnly ? error : error.inItem(itemCount)
      error.line = place(of: start).line
      throw error
    }
  }

  /// Whether there is another item behind the one that was just read, as far as one can see.
  private func isFollowed(_ reader: inout JSONReader) -> Bool {
    reader.skipWhiteSpace() && !(form != .sequence && reader.take("]"))
  }

  /// An error in a text that begins there.
  private func notJSON(_ error: JSONError, from start: Int = 0) -> FeedItemError {
    let base = place(of: start)
    return FeedItemError(
      path: nil,
      message: "not JSON: \(error.message)",
      line: base.line + error.line - 1,
      column: error.line == 1 ? base.column + error.column - 1 : error.column
    )
  }
}
