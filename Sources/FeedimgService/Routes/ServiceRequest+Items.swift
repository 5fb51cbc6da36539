import Feedimg
import FeedimgFeeds
import FeedimgJSON
import FeedimgModel

extension ServiceRequest {
  /// The media types of items and feeds.
  private static let itemTypes = [
    "application/json", "application/x-ndjson", "application/jsonl", "application/feed+json",
    "application/activity+json", "application/rss+xml", "application/atom+xml", "application/xml", "text/xml",
    "text/html",
  ]

  /// The items in the body: as JSON, or the pictures of a feed.
  ///
  /// The query may name the format of a feed (`from=`) and its address (`base=`).
  ///
  /// - Parameter otherScheme: The status for an item whose URL is of another scheme than http and https.
  /// - Returns: The items, and the form of the body. An empty array and a feed may have none.
  /// - Throws: ``Problem`` 415 for another media type, 400 for malformed documents, and 422 for invalid items.
  func items(otherScheme: Int = 422) throws(Problem) -> (items: [FeedItem], form: ItemsForm) {
    try expectBody(in: Self.itemTypes)
    switch try ItemDocument(body, try feedReader(), otherScheme: otherScheme) {
    case .feed(let items): return (items, .array)
    case .items(let items, let values):
      if values.count > 1 { return (items, .lines) }
      if case .array? = values.first { return (items, .array) }
      // The response to a single JSON line is a JSON line too.
      return (items, fields.mediaType ?? "application/json" == "application/json" ? .single : .lines)
    }
  }

  private func feedReader() throws(Problem) -> FeedReader {
    var reader = FeedReader()
    do throws(FeedError) {
      reader.format = try target["from"].flatMap { name throws(FeedError) in try FeedFormat.named(name) }
    } catch {
      throw Problem(422, "`from=`: \(error)")
    }
    do throws(ImageURLError) {
      reader.base = try target["base"].map { text throws(ImageURLError) in try ImageURL(text) }
    } catch {
      throw Problem(422, "`base=`: expected an http or https URL, but it \(error)")
    }
    return reader
  }

  /// Throws ``Problem`` 415 for a body of another media type; a body without one is accepted.
  func expectBody(in mediaTypes: [String]) throws(Problem) {
    guard let mediaType = fields.mediaType, !mediaTypes.contains(mediaType) else { return }
    throw Problem(
      415,
      "expected \(mediaTypes.joined(separator: " or ")), found `\(mediaType)`",
      fields: [(method == "PATCH" ? "Accept-Patch" : "Accept-Post", mediaTypes.joined(separator: ", "))]
    )
  }
}

/// The form of the items in a request, which the response repeats.
enum ItemsForm: Sendable, Hashable {
  case single
  case array
  case lines
}
