import Feedimg

/// What a file is that has no items of feedimg, as far as its beginning tells.
enum OtherFeed: String, CaseIterable {
  case jsonFeed = "a JSON Feed"
  case mastodon = "a post of Mastodon, as its API has it"
  case bluesky = "a post of Bluesky, as its API has it"
  case reddit = "a listing of Reddit"
  case rss = "an RSS feed"
  case atom = "an Atom feed"
  case html = "an HTML page"
  case xml = "an XML document"

  /// More of it need not be kept to tell; in bytes.
  static let prefixLength = 1 << 16

  /// - Parameters:
  ///   - prefix: The first bytes of the file.
  ///   - error: Why it could not be read; what is wrong with a later item says nothing about the format.
  init?(_ prefix: some Collection<UInt8>, notReadFor error: FeedItemError) {
    let text = String(decoding: prefix, as: UTF8.self)
    let isMarkup = text.first { !$0.isWhitespace && $0 != "\u{FEFF}" } == "<"
    let isStrange = error.column == nil && error.path == nil && error.item ?? 1 == 1
    let found = isMarkup ? Self.markup(text.lowercased()) : isStrange ? Self.object(text) : nil
    guard let found else { return nil }
    self = found
  }

  /// By the element that comes first of those that name a format.
  private static func markup(_ text: String) -> OtherFeed {
    let marks: [(mark: String, feed: OtherFeed)] = [
      ("<rss", .rss), ("<rdf:rdf", .rss), ("<feed", .atom), ("<!doctype html", .html), ("<html", .html),
    ]
    let found = marks.compactMap { mark, feed in text.firstRange(of: mark).map { ($0.lowerBound, feed) } }
    return found.min { $0.0 < $1.0 }?.1 ?? .xml
  }

  /// By members that no other format has.
  private static func object(_ text: String) -> OtherFeed? {
    let marks: [(marks: [String], feed: OtherFeed)] = [
      (["jsonfeed.org/version"], .jsonFeed), ([#""media_attachments""#], .mastodon),
      (["app.bsky."], .bluesky), ([#""kind""#, #""Listing""#], .reddit),
      ([#""version""#, #""items""#], .jsonFeed),
    ]
    return marks.first { $0.marks.allSatisfy { text.contains($0) } }?.feed
  }
}
