import FeedimgFeeds
import FeedimgJSON
import FeedimgModel

/// The body of a request: items, or a document of another format with pictures.
enum ItemDocument {
  /// The items, and the values of the document, of which there is at least one.
  case items([FeedItem], [JSONValue])
  /// The pictures of a feed, possibly none.
  case feed([FeedItem])

  /// Reads a complete document.
  ///
  /// - Parameters:
  ///   - bytes: The document.
  ///   - reader: The reader for another format; with a format, it reads the document.
  ///   - otherScheme: The status for an item whose URL is of another scheme than http and https.
  /// - Throws: ``Problem`` 400 for a malformed document, and 422 for an invalid item.
  init(_ bytes: [UInt8], _ reader: FeedReader, otherScheme: Int) throws(Problem) {
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
        (problem, fault) = (Problem(error, otherScheme: otherScheme), error)
      }
    } catch {
      let markup = FeedFormat.unknownMarkup(bytes, option: "from=html")
      (problem, fault) = (Problem(400, markup ?? "the body is not JSON: \(error)"), FeedItemError(error))
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

extension Problem {
  /// The problem of an item that cannot be read: 400 for malformed JSON, and 422 for an invalid item.
  ///
  /// - Parameters:
  ///   - error: The error of the item.
  ///   - place: The beginning of the message, such as the name of a parameter.
  ///   - otherScheme: The status for an item whose URL is of another scheme than http and https.
  init(_ error: FeedItemError, in place: String = "", otherScheme: Int) {
    let isForbidden = error.namesOtherScheme && otherScheme != 422
    let status = isForbidden ? otherScheme : error.column == nil ? 422 : 400
    self.init(status, "\(place)\(error)", code: isForbidden ? "forbidden-scheme" : nil)
  }
}
