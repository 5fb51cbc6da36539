public import FeedimgModel

/// Reads the pictures of a feed, an API response or a page as items.
///
/// Fetches nothing: neither pictures nor parts of the document.
public struct FeedReader: Sendable {
  /// The length limit of a document in XML or HTML, in bytes.
  public static let maximumLength = 64 << 20

  /// The length limit of a document in JSON, in bytes.
  ///
  /// It is lower, because the values of JSON may take many times the memory of their text.
  public static let maximumJSONLength = 16 << 20

  /// The format of the document; nil to detect it.
  public var format: FeedFormat?
  /// The address of the document, to which its relative URLs refer.
  public var base: ImageURL?
  /// Whether an invalid entry is an error.
  public var isStrict: Bool

  /// Creates a reader; by default it detects the format and skips invalid entries.
  public init(format: FeedFormat? = nil, base: ImageURL? = nil, isStrict: Bool = false) {
    self.format = format
    self.base = base
    self.isStrict = isStrict
  }

  /// Reads a complete document.
  ///
  /// - Returns: One item for each picture, in the order of the document; none for a document without pictures.
  /// - Throws: ``FeedError`` for a document that is too long, incomplete or of another format. If ``isStrict``,
  ///   also for the first invalid entry.
  public func read(_ bytes: [UInt8]) throws(FeedError) -> FeedDocument {
    guard let format = format ?? FeedFormat(detecting: bytes) else {
      let formats = FeedFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw FeedError(.unknownFormat, "expected a feed in one of the formats \(formats)")
    }
    let (limit, kind) =
      format.isJSON ? (Self.maximumJSONLength, "JSON") : (Self.maximumLength, "XML and HTML")
    guard bytes.count <= limit else {
      throw FeedError(.tooLong, "the document is longer than the limit of \(limit >> 20) MiB for \(kind)")
    }
    var feed = FeedBuilder(base: base?.text)
    switch format {
    case .mastodon, .pleroma, .pixelfed: try feed.read(bytes, Mastodon.read)
    case .bluesky: try feed.read(bytes, Bluesky.read)
    case .lemmy: try feed.read(bytes, Lemmy.read)
    case .reddit: try feed.read(bytes, Reddit.read)
    case .jsonFeed: try feed.read(bytes, JSONFeed.read)
    case .rss: try XMLFeed.read(bytes, .rss, &feed)
    case .atom: try XMLFeed.read(bytes, .atom, &feed)
    case .html: try HTMLPage.read(bytes, &feed)
    }
    if isStrict, let warning = feed.warnings.first { throw FeedError(.invalidEntry, "\(warning)") }
    return FeedDocument(
      format: format,
      items: feed.items,
      warnings: feed.warnings,
      warningCount: feed.warningCount
    )
  }
}

/// The pictures of a document.
public struct FeedDocument: Sendable, Hashable {
  /// The format of the document.
  public var format: FeedFormat
  /// One item for each picture, in the order of the document.
  public var items: [FeedItem]
  /// The first warnings about invalid entries.
  public var warnings: [FeedWarning]
  /// The number of warnings, including those that are not in ``warnings``.
  public var warningCount: Int
}
