package import FeedimgJSON

extension FeedItem {
  /// Reads an item in its short form, with `originalImage` and `thumbnailImage`, or its rich one, with `variants`.
  ///
  /// Both forms at once are accepted if they agree. Unknown members are ignored, null counts as absent.
  ///
  /// - Throws: ``FeedItemError`` naming the member and what was expected.
  package init(json: JSONValue) throws(FeedItemError) {
    guard case .object(let object) = json else {
      throw FeedItemError(path: nil, message: "expected an object, found \(json.kind)")
    }
    let reader = MemberReader(object: object, path: "")
    let short = ItemVariants(
      original: try reader.url("originalImage").map { ImageVariant(role: .original, url: $0) },
      thumbnail: try reader.url("thumbnailImage").map { ImageVariant(role: .thumbnail, url: $0) }
    )
    let rich = try reader.array("variants").map { elements throws(FeedItemError) in
      // An empty list says no more than none.
      elements.isEmpty ? nil : try ItemVariants(elements: elements)
    }
    let variants = try rich??.merged(with: short) ?? short.distinct
    guard variants.original != nil || variants.thumbnail != nil else {
      throw FeedItemError(
        path: nil,
        message: "an item needs `originalImage`, `thumbnailImage` or `variants`, found none of them"
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

  /// Reads the items of a JSON document: one, an array, or one after another as in JSON lines.
  ///
  /// - Parameter json: The document in UTF-8.
  /// - Returns: At least one item.
  /// - Throws: ``FeedItemError`` with the line and column, or with the item and its member.
  public static func items(json: [UInt8]) throws(FeedItemError) -> [FeedItem] {
    let values: [JSONValue]
    do throws(JSONError) {
      values = try JSONReader.values(in: json)
    } catch {
      throw FeedItemError(
        path: nil,
        message: "not JSON: \(error.message)",
        line: error.line,
        column: error.column
      )
    }
    return try items(in: values)
  }

  /// Reads the items of a document: one, an array, or one after another as in JSON lines.
  ///
  /// - Throws: ``FeedItemError`` naming the item, counted from one where there are several.
  package static func items(in values: [JSONValue]) throws(FeedItemError) -> [FeedItem] {
    var elements = values
    if values.count == 1, case .array(let inner) = values[0] { elements = inner }
    guard !elements.isEmpty else { throw FeedItemError(path: nil, message: "expected an item, found none") }
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

/// Why a JSON value is no item.
public struct FeedItemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The item counted from one, where there are several.
  public var item: Int?
  /// The member, such as `variants[1].url`; nil where the item as a whole is meant.
  public var path: String?
  /// What was expected, and what was found.
  public var message: String

  /// The line of the document counted from one, where it is known: of what is no JSON, or where the item begins.
  public var line: Int?
  /// The column in bytes counted from one, where it is no JSON.
  public var column: Int?

  /// Whether it is a URL of another scheme than http and https, which nobody may be led to.
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

  /// The same without line and column, for who tells them in another way.
  public var withoutLine: String {
    if column != nil { return message }
    let place = [item.map { "item \($0)" }, path.map { "`\($0)`" }].compactMap { $0 }.joined(separator: ", ")
    return place.isEmpty ? message : "\(place): \(message)"
  }

  func inItem(_ number: Int) -> FeedItemError {
    var error = self
    error.item = number
    return error
  }
}
