import FeedimgJSON
import FeedimgModel

/// JSON Feed 1.0 and 1.1 (jsonfeed.org).
///
/// `banner_image` is another picture than `image`, and icons are not pictures of an item.
enum JSONFeed {
  static func read(_ document: JSONValue, _ feed: inout FeedBuilder) {
    for name in ["feed_url", "home_page_url"] where feed.base == nil {
      feed.base = URLReference.base(document[name]?.text, outer: nil).flatMap { try? ImageURL($0) }?.text
    }
    feed.entries(in: document["items"] ?? document, readItem)
  }

  private static func readItem(_ item: JSONValue, _ entry: inout Entry) {
    let (id, page) = (item.identifier, item["url"]?.text)
    entry.add(Picture(id: id, page: page, original: entry.variant(.original, item, "image")))
    for (attachment, place) in entry.objects(item, "attachments") {
      guard let type = attachment["mime_type"]?.text?.lowercased(), type.hasPrefix("image/") else { continue }
      var variant = entry.variant(.original, attachment, "url", in: place)
      variant?.mediaType = type
      variant?.size = attachment["size_in_bytes"]?.integer?.positive.map { ByteCount($0) }
      entry.add(
        Picture(id: id, alternativeText: attachment["title"]?.text?.nonBlank, page: page, original: variant)
      )
    }
  }
}
