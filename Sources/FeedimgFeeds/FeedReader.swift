public import FeedimgModel

/// Reads the pictures of a feed, an API response or a page as items.
///
/// Fetches nothing: neither pictures nor parts of the document.
public struct FeedReader: Sendable {
  /// The length limit of a document, in bytes.
  public static let maximumLength = 64 << 20
  /// The length limit of an entry, in bytes; a longer one is skipped with a warning.
  public static let maximumEntryLength = 16 << 20

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
    guard bytes.count <= Self.maximumLength else {
      throw FeedError(.tooLong, "the document is longer than the limit of \(Self.maximumLength >> 20) MiB")
    }
    guard let format = format ?? FeedFormat(detecting: bytes) else {
      let formats = FeedFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw FeedError(.unknownFormat, "expected a feed in one of the formats \(formats)")
    }
    var feed = FeedBuilder(base: base?.text)
    switch format {
    case .mastodon, .pleroma, .pixelfed: try feed.read(bytes, Mastodon.read)
    case .bluesky: try feed.read(bytes, Bluesky.read)
    case .lemmy: try feed.read(bytes, Lemmy.read)
    case .reddit: try feed.read(bytes, Reddit.read)
    case .jsonFeed: try feed.read(bytes, JSONFeed.read)
    case .rss, .atom: try XMLFeed.read(bytes, format, &feed)
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
  /// The most warnings that ``warnings`` holds.
  public static let maximumWarnings = 100

  /// The format of the document.
  public var format: FeedFormat
  /// One item for each picture, in the order of the document.
  public var items: [FeedItem]
  /// The first warnings about invalid entries.
  public var warnings: [FeedWarning]
  /// The number of warnings, including those that are not in ``warnings``.
  public var warningCount: Int
}

/// An invalid entry, or an invalid picture of an entry; feedimg skipped it.
public struct FeedWarning: Sendable, Hashable, CustomStringConvertible {
  /// The number of the entry, counted from one.
  public var entry: Int
  /// The identifier of the entry, if the feed has one.
  public var id: String?
  /// The expected and the found value, with the member or element.
  public var message: String

  /// One line that names the entry.
  public var description: String { "entry \(entry)\(id.map { " (`\($0)`)" } ?? ""): \(message)" }
}

/// Why a document cannot be read.
public struct FeedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, Hashable {
    case tooLong
    case unknownFormat
    /// The document is incomplete, or its syntax is invalid.
    case malformed
    /// The document has another format than expected.
    case otherFormat
    /// An entry is invalid, and the reader is strict.
    case invalidEntry
    /// libxml2, which XML and HTML need, cannot be opened.
    case unavailable
  }

  /// The kind of error.
  public var code: Code
  /// The expected and the found value, without the place.
  public var message: String
  /// The line of a syntax error, counted from one; nil if unknown.
  public var line: Int?
  /// The column of a syntax error, in bytes counted from one; nil if unknown.
  public var column: Int?

  init(_ code: Code, _ message: String, line: Int? = nil, column: Int? = nil) {
    self.code = code
    self.message = message
    self.line = line
    self.column = column
  }

  /// One line with the place.
  public var description: String {
    let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
    return (place.isEmpty ? "" : place.joined(separator: ", ") + ": ") + message
  }
}
