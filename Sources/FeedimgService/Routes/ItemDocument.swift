import FeedimgFeeds
import FeedimgJSON
import FeedimgModel

/// A document with items, or with pictures in another format.
enum ItemDocument {
  /// At least one item, and the values that describe them.
  case items([FeedItem], [JSONValue])
  /// The pictures of a feed, possibly none.
  case feed([FeedItem])

  /// Reads a complete document.
  ///
  /// - Throws: ``ItemDocumentError`` for a document that is neither.
  init(_ bytes: [UInt8], _ reader: FeedReader) throws(ItemDocumentError) {
    guard reader.format == nil else {
      self = .feed(try Self.feed(bytes, reader))
      return
    }
    let error: ItemDocumentError
    let itemError: FeedItemError
    do throws(JSONError) {
      let values = try JSONReader.values(in: bytes)
      do throws(FeedItemError) {
        self = .items(try FeedItem.items(in: values), values)
        return
      } catch let fault {
        (error, itemError) = (.items(fault), fault)
      }
    } catch let fault {
      error = .syntax("not JSON: \(fault)")
      itemError = FeedItemError(fault)
    }
    guard let format = FeedFormat(detecting: bytes, notReadFor: itemError) else { throw error }
    var reader = reader
    reader.format = format
    self = .feed(try Self.feed(bytes, reader))
  }

  private static func feed(_ bytes: [UInt8], _ reader: FeedReader) throws(ItemDocumentError) -> [FeedItem] {
    do throws(FeedError) {
      return try reader.read(bytes).items
    } catch {
      throw error.code == .invalidEntry ? .entry("\(error)") : .syntax("\(error)")
    }
  }
}

/// Why a document has no items.
enum ItemDocumentError: Error, CustomStringConvertible {
  /// The document is incomplete, or its syntax is invalid.
  case syntax(String)
  /// An item is invalid.
  case items(FeedItemError)
  /// An entry of a feed is invalid, and the reader is strict.
  case entry(String)

  var description: String {
    switch self {
    case .syntax(let message), .entry(let message): message
    case .items(let error): "\(error)"
    }
  }
}
