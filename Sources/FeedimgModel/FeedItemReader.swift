import FeedimgJSON

/// Reads the items of a document piece by piece, so that memory use does not grow with the document.
///
/// A document is one item, an array of items, or JSON lines.
public struct FeedItemReader: Sendable {
  /// The length limit of an item, in bytes.
  public static let maximumItemLength = 16 << 20

  private var stream = JSONStream(longestValue: Self.maximumItemLength)

  /// Creates a reader for the start of a document.
  public init() {}

  /// Reads the next piece.
  ///
  /// - Parameters:
  ///   - piece: The next bytes of the document, in UTF-8. A piece may end within an item.
  ///   - isLast: Whether the document ends here.
  /// - Returns: The items completed by this piece; possibly none.
  /// - Throws: ``FeedItemError`` with the line, also for a document without items. The items of the piece are
  ///   then lost, and the reader cannot be used again.
  public mutating func read(_ piece: ArraySlice<UInt8>, isLast: Bool) throws(FeedItemError) -> [FeedItem] {
    var items: [FeedItem] = []
    for entry in try entries(in: piece, isLast: isLast) { items.append(try entry.get()) }
    guard !isLast || stream.count > 0 else { throw FeedItemError.noItem }
    return items
  }

  /// Reads on; an entry that is not an item does not end the document.
  ///
  /// - Parameters:
  ///   - piece: The next bytes of the document, in UTF-8. A piece may end within an item.
  ///   - isLast: Whether the document ends here.
  /// - Returns: The entries that are complete now: each an item, or an error with its line. There may be none.
  /// - Throws: ``FeedItemError`` with the line, for text that is not JSON. The reader is then of no further use.
  public mutating func entries(
    in piece: ArraySlice<UInt8>,
    isLast: Bool
  ) throws(FeedItemError) -> [Result<FeedItem, FeedItemError>] {
    let earlier = stream.count
    let elements: [JSONStream.Element]
    do throws(JSONError) {
      elements = try stream.read(piece, isLast: isLast)
    } catch {
      throw FeedItemError(error)
    }
    guard stream.unreadLength <= Self.maximumItemLength else {
      let message = "an item is longer than the limit of \(Self.maximumItemLength >> 20) MiB"
      throw FeedItemError(path: nil, message: message, line: stream.unreadLine)
    }
    var entries: [Result<FeedItem, FeedItemError>] = []
    entries.reserveCapacity(elements.count)
    for element in elements {
      do throws(FeedItemError) {
        entries.append(.success(try FeedItem(json: element.value)))
      } catch {
        var error = stream.count == 1 ? error : error.inItem(earlier + entries.count + 1)
        error.line = stream.line(of: element.offset)
        entries.append(.failure(error))
      }
    }
    return entries
  }
}
