package import FeedimgJSON

extension FeedItem {
  /// Reads an item in its short form, with `originalImage` and `thumbnailImage`, or its full form, with
  /// `variants`.
  ///
  /// Accepts both forms together if they agree. Ignores unknown members and treats null as absent.
  ///
  /// - Throws: ``FeedItemError`` with the member and the expected value.
  package init(json: JSONValue) throws(FeedItemError) {
    guard case .object(let object) = json else {
      throw FeedItemError(path: nil, message: "expected an object, found \(json.kind)")
    }
    let reader = MemberReader(object: object, path: "")
    var variants = ItemVariants(
      original: try reader.url("originalImage").map { ImageVariant(role: .original, url: $0) },
      thumbnail: try reader.url("thumbnailImage").map { ImageVariant(role: .thumbnail, url: $0) }
    )
    // An empty list counts as absent.
    if let elements = try reader.array("variants"), !elements.isEmpty {
      let rich = try ItemVariants(elements: elements)
      try rich.check(variants)
      variants = rich
    }
    variants.removeDuplicate()
    guard variants.original != nil || variants.thumbnail != nil else {
      throw FeedItemError(
        path: nil,
        message: "an item needs `originalImage`, `thumbnailImage` or `variants`, but has none of them"
      )
    }
    let placeholder = try reader.object("placeholder")
    self.init(
      id: try reader.identifier("id"),
      alternativeText: try reader.text("alt"),
      page: try reader.text("page"),
      original: variants.original,
      thumbnail: variants.thumbnail,
      placeholder: Placeholder(
        blurHash: try placeholder?.text("blurhash"),
        thumbHash: try placeholder?.text("thumbhash"),
        color: try placeholder?.color("color")
      )
    )
  }

  /// Reads the items of a JSON document: one item, an array of items, or JSON lines.
  ///
  /// - Parameter json: The document in UTF-8.
  /// - Returns: At least one item.
  /// - Throws: ``FeedItemError`` with line and column for a JSON error, and with line, item and member
  ///   otherwise.
  public static func items(json: [UInt8]) throws(FeedItemError) -> [FeedItem] {
    var reader = FeedItemReader()
    return try reader.read(json[...], isLast: true)
  }

  /// Reads the items of parsed values: one item, an array of items, or JSON lines.
  ///
  /// - Throws: ``FeedItemError`` with the number of the item, counted from one, if there are several.
  package static func items(in values: [JSONValue]) throws(FeedItemError) -> [FeedItem] {
    var elements = values
    if values.count == 1, case .array(let inner) = values[0] { elements = inner }
    guard !elements.isEmpty else { throw FeedItemError.noItem }
    var items: [FeedItem] = []
    items.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      do throws(FeedItemError) {
        items.append(try FeedItem(json: element))
      } catch {
        throw elements.count == 1 ? error : error.inItem(index + 1)
      }
    }
    return items
  }
}

/// Why a JSON value is not an item.
public struct FeedItemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number of the item, counted from one, if there are several.
  public var item: Int?
  /// The member, such as `variants[1].url`; nil for the item as a whole.
  public var path: String?
  /// The expected and the found value.
  public var message: String

  /// The line of the JSON error or of the item's start, counted from one; nil if unknown.
  public var line: Int?
  /// The column of the JSON error, in bytes counted from one; nil for other errors.
  public var column: Int?

  /// Whether a URL has a scheme other than http and https.
  package var namesOtherScheme = false

  init(path: String?, message: String, line: Int? = nil, column: Int? = nil) {
    self.path = path
    self.message = message
    self.line = line
    self.column = column
  }

  /// One line with the place.
  public var description: String {
    if let line, let column { return "line \(line), column \(column): \(message)" }
    return withoutLine
  }

  /// The message without line and column, for callers that print these elsewhere.
  public var withoutLine: String {
    if column != nil { return message }
    let place = [item.map { "item \($0)" }, path.map { "`\($0)`" }].compactMap { $0 }.joined(separator: ", ")
    return place.isEmpty ? message : "\(place): \(message)"
  }

  static let noItem = FeedItemError(path: nil, message: "expected an item, found none")

  func inItem(_ number: Int) -> FeedItemError {
    var error = self
    error.item = number
    return error
  }
}
