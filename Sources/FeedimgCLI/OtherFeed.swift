import Feedimg

/// A format other than feedimg's items, detected from the start of a file.
enum OtherFeed: String, CaseIterable {
  case jsonFeed = "a JSON Feed"
  case mastodon = "posts from the Mastodon API"
  case bluesky = "posts from the Bluesky API"
  case reddit = "a Reddit listing"
  case rss = "an RSS feed"
  case atom = "an Atom feed"
  case html = "an HTML page"
  case xml = "an XML document"

  /// The number of bytes that are enough to detect the format.
  static let prefixLength = 1 << 16

  /// - Parameters:
  ///   - prefix: The first bytes of the file.
  ///   - error: The error of reading the file; an error in a later item does not indicate another format.
  init?(_ prefix: some Collection<UInt8>, notReadFor error: FeedItemError) {
    let text = String(decoding: prefix, as: UTF8.self)
    let isMarkup = text.first { !$0.isWhitespace && $0 != "\u{FEFF}" } == "<"
    let isUnrecognized = error.column == nil && error.path == nil && error.item ?? 1 == 1
    let found = isMarkup ? Self.markup(text.lowercased()) : isUnrecognized ? Self.object(text) : nil
    guard let found else { return nil }
    self = found
  }

  /// Detects a format by the first element that is specific to one.
  private static func markup(_ text: String) -> OtherFeed {
    let marks: [(mark: String, feed: OtherFeed)] = [
      ("<rss", .rss), ("<rdf:rdf", .rss), ("<feed", .atom), ("<!doctype html", .html), ("<html", .html),
    ]
    let found = marks.compactMap { mark, feed in text.firstRange(of: mark).map { ($0.lowerBound, feed) } }
    return found.min { $0.0 < $1.0 }?.1 ?? .xml
  }

  /// Detects a format by members that no other format has.
  private static func object(_ text: String) -> OtherFeed? {
    let marks: [(marks: [String], feed: OtherFeed)] = [
      (["jsonfeed.org/version"], .jsonFeed), ([#""media_attachments""#], .mastodon),
      (["app.bsky."], .bluesky), ([#""kind""#, #""Listing""#], .reddit),
      ([#""version""#, #""items""#], .jsonFeed),
    ]
    return marks.first { $0.marks.allSatisfy { text.contains($0) } }?.feed
  }
}
