public import FeedimgModel

/// A format of documents that contain pictures.
public enum FeedFormat: String, Sendable, Hashable, CaseIterable {
  case mastodon
  case pleroma
  case pixelfed
  case bluesky
  case lemmy
  case reddit
  case jsonFeed = "jsonfeed"
  case rss
  case atom
  case html

  /// Detects the format from the start of a document; nil if no element or member is specific to a format.
  ///
  /// - Parameter start: The first bytes; more than ``detectionLength`` are ignored.
  public init?(detecting start: some Collection<UInt8>) {
    let text = Self.text(of: Array(start.prefix(Self.detectionLength)))
    let found = Self.isMarkup(text) ? Self.markup(text.lowercased()) : Self.object(text)
    guard let found else { return nil }
    self = found
  }

  /// Detects the format of a document that cannot be read as items.
  ///
  /// - Parameters:
  ///   - start: The first bytes of the document.
  ///   - error: The first error of reading items. An error in a member of an item or in a later item does not
  ///     indicate another format.
  public init?(detecting start: some Collection<UInt8>, notReadFor error: FeedItemError) {
    guard let found = FeedFormat(detecting: start) else { return nil }
    let isFirst = error.column == nil && error.path == nil && error.item ?? 1 == 1
    guard isFirst || !found.isJSON else { return nil }
    self = found
  }

  /// Whether documents of the format are JSON; the others are XML or HTML.
  var isJSON: Bool { ![.rss, .atom, .html].contains(self) }

  /// Explains why a document whose format is not detected cannot be read, if it is markup.
  ///
  /// - Parameters:
  ///   - start: The first bytes of the document.
  ///   - option: What the user can add to read HTML, such as `--from html`.
  /// - Returns: The message; nil for a document that is not markup.
  package static func unknownMarkup(_ start: some Collection<UInt8>, option: String) -> String? {
    guard isMarkup(text(of: Array(start.prefix(detectionLength)))) else { return nil }
    let expectation = "expected JSON, RSS, Atom or a whole HTML page, found other markup"
    return "\(expectation); for a part of a page, add `\(option)`"
  }

  /// The format of a name, or nil for the name `auto`.
  ///
  /// - Throws: ``FeedError`` with `unknownFormat`, the names and a suggestion.
  public static func named(_ name: String) throws(FeedError) -> FeedFormat? {
    if name == "auto" { return nil }
    if let format = FeedFormat(rawValue: name) { return format }
    let nearest = Spelling.nearest(to: name, among: names).map { "; did you mean `\($0)`?" } ?? ""
    throw FeedError(.unknownFormat, "expected \(names.joined(separator: ", ")), found `\(name)`\(nearest)")
  }

  /// All names that ``named(_:)`` accepts.
  public static let names = ["auto"] + allCases.map(\.rawValue)

  /// The number of bytes that are enough to detect the format.
  public static let detectionLength = 1 << 16

  private static func isMarkup(_ text: String) -> Bool {
    text.first { !$0.isWhitespace && $0 != "\u{FEFF}" } == "<"
  }

  private static func text(of start: [UInt8]) -> String {
    let encoding = MarkupEncoding(of: start)
    guard encoding.name.hasPrefix("UTF-16") else { return String(decoding: start, as: UTF8.self) }
    let text = start.dropFirst(encoding.start)
    let units = MarkupEncoding.units(of: text, isLittle: encoding.name == "UTF-16LE")
    return String(decoding: units, as: UTF16.self)
  }

  /// Detects a format by the first element that is specific to one.
  private static func markup(_ text: String) -> FeedFormat? {
    let marks: [(mark: String, format: FeedFormat)] = [
      ("<rss", .rss), ("<rdf:rdf", .rss), ("<feed", .atom), ("<!doctype html", .html), ("<html", .html),
    ]
    let found = marks.compactMap { mark, format in text.firstRange(of: mark).map { ($0.lowerBound, format) } }
    return found.min { $0.0 < $1.0 }?.1
  }

  /// Detects a format by members that no other format has.
  private static func object(_ text: String) -> FeedFormat? {
    let marks: [(marks: [String], format: FeedFormat)] = [
      (["jsonfeed.org/version"], .jsonFeed),
      ([#""media_attachments""#, #""pleroma""#], .pleroma),
      ([#""media_attachments""#], .mastodon),
      (["app.bsky."], .bluesky), ([#""did""#, #""handle""#], .bluesky),
      ([#""kind""#, #""Listing""#], .reddit),
      ([#""post""#, #""ap_id""#, #""community_id""#], .lemmy),
      ([#""acct""#, #""avatar_static""#], .mastodon), ([#""shortcode""#, #""static_url""#], .mastodon),
      ([#""version""#, #""items""#], .jsonFeed),
    ]
    return marks.first { $0.marks.allSatisfy { text.contains($0) } }?.format
  }
}
