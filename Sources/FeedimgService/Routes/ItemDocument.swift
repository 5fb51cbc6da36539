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
  /// - Parameters:
  ///   - bytes: The document.
  ///   - reader: The reader for another format; with a format, it reads the document.
  ///   - notJSON: How the message for malformed JSON begins.
  ///   - otherScheme: The status for an item whose URL is of another scheme than http and https.
  /// - Throws: ``Problem`` 400 for a malformed document, and 422 for an invalid item.
  init(
    _ bytes: [UInt8],
    _ reader: FeedReader,
    notJSON: String = "not JSON",
    otherScheme: Int = 422
  ) throws(Problem) {
    guard reader.format == nil else {
      self = .feed(try Self.feed(bytes, reader))
      return
    }
    let (problem, fault): (Problem, FeedItemError)
    do throws(JSONError) {
      let values = try JSONReader.values(in: bytes)
      do throws(FeedItemError) {
        self = .items(try FeedItem.items(in: values), values)
        return
      } catch {
        let isScheme = error.namesOtherScheme && otherScheme != 422
        let code = isScheme ? "forbidden-scheme" : nil
        (problem, fault) = (Problem(isScheme ? otherScheme : 422, "\(error)", code: code), error)
      }
    } catch {
      (problem, fault) = (Problem(400, "\(notJSON): \(error)"), FeedItemError(error))
    }
    guard let format = FeedFormat(detecting: bytes, notReadFor: fault) else { throw problem }
    var reader = reader
    reader.format = format
    self = .feed(try Self.feed(bytes, reader))
  }

  private static func feed(_ bytes: [UInt8], _ reader: FeedReader) throws(Problem) -> [FeedItem] {
    do throws(FeedError) {
      return try reader.read(bytes).items
    } catch {
      throw Problem(error.code == .invalidEntry ? 422 : 400, "\(error)")
    }
  }
}
