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
      ),
      sizes: variants.sizes,
      kind: reader.kind("kind") ?? .picture
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
  /// - Returns: The items; none for an empty array.
  /// - Throws: ``FeedItemError`` with the number of the item, counted from one, if there are several. Throws
  ///   `noItem` if there are no values.
  package static func items(in values: [JSONValue]) throws(FeedItemError) -> [FeedItem] {
    guard !values.isEmpty else { throw FeedItemError.noItem }
    var elements = values
    if values.count == 1, case .array(let inner) = values[0] { elements = inner }
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

extension FeedItemError {
  /// An error in the syntax.
  package init(_ error: JSONError) {
    self.init(path: nil, message: "not JSON: \(error.message)", line: error.line, column: error.column)
  }
}

/// The original, the thumbnail and their other sizes, selected from all variants of an item.
struct ItemVariants {
  var original: ImageVariant?
  var thumbnail: ImageVariant?
  var sizes: [ImageVariant] = []

  init(original: ImageVariant?, thumbnail: ImageVariant?) {
    self.original = original
    self.thumbnail = thumbnail
  }

  /// Removes a thumbnail with the same URL as the original.
  mutating func removeDuplicate() {
    if thumbnail?.url.key == original?.url.key { thumbnail = nil }
  }

  /// Reads `variants`: by `role`, or by width if none has a role.
  init(elements: [JSONValue]) throws(FeedItemError) {
    var listed: [(variant: ImageVariant, hasRole: Bool)] = []
    for (index, element) in elements.enumerated() {
      let path = "variants[\(index)]"
      guard case .object(let object) = element else {
        throw FeedItemError(path: path, message: "expected an object, found \(element.kind)")
      }
      let reader = MemberReader(object: object, path: path + ".")
      guard let url = try reader.url("url") else {
        throw FeedItemError(
          path: path + ".url",
          message: "expected an absolute http or https URL, found none"
        )
      }
      let role = try reader.role("role")
      let width = try reader.count("width")
      let isOfUnknownWidth = { (variant: ImageVariant) in variant.role == .original && variant.width == nil }
      if role == .original, width == nil, listed.contains(where: { isOfUnknownWidth($0.variant) }) {
        throw FeedItemError(
          path: path + ".role",
          message: "expected one original without a `width`, found a second"
        )
      }
      listed.append(
        (
          ImageVariant(
            role: role ?? .thumbnail,
            url: url,
            width: width,
            height: try reader.count("height"),
            size: try reader.count("bytes").map { ByteCount($0) },
            mediaType: try reader.text("type")
          ),
          role != nil
        )
      )
    }
    if let missing = listed.firstIndex(where: { !$0.hasRole && $0.variant.width == nil }) {
      throw FeedItemError(
        path: "variants[\(missing)]",
        message: "expected a `role` (original or thumbnail) or a `width`"
      )
    }
    var thumbnails = listed.filter { $0.variant.role == .thumbnail }
    // The others are sizes of it.
    var original = listed.map(\.variant).filter { $0.role == .original }.max {
      ($0.width ?? .max) < ($1.width ?? .max)
    }
    if original == nil,
      let widest = thumbnails.filter({ !$0.hasRole }).map(\.variant).max(by: {
        ($0.width ?? 0) < ($1.width ?? 0)
      })
    {
      original = widest
      original?.role = .original
      thumbnails.removeAll { $0.variant.url.key == widest.url.key }
    }
    self.original = original
    thumbnail = ImageVariant.thumbnail(among: thumbnails.map(\.variant))
    removeDuplicate()
    sizes = sizes(among: listed)
  }

  /// The other variants with a width.
  ///
  /// Without a role, those wider than the thumbnail are sizes of the original.
  private func sizes(among listed: [(variant: ImageVariant, hasRole: Bool)]) -> [ImageVariant] {
    listed.compactMap { variant, hasRole in
      guard let width = variant.width, ![original?.url.key, thumbnail?.url.key].contains(variant.url.key)
      else { return nil }
      var variant = variant
      if !hasRole { variant.role = width > thumbnail?.width ?? 0 ? .original : .thumbnail }
      return variant
    }
  }

  /// Checks that the short form of an item agrees with its full form.
  func check(_ short: ItemVariants) throws(FeedItemError) {
    func check(_ name: String, _ mine: ImageVariant?, _ other: ImageVariant?) throws(FeedItemError) {
      guard let other, other.url.key != mine?.url.key else { return }
      throw FeedItemError(
        path: name,
        message: "expected the same URL as in `variants`, `\(mine?.url.description ?? "none")`"
      )
    }
    try check("originalImage", original, short.original)
    let isOneForBoth = thumbnail == nil && short.thumbnail?.url.key == original?.url.key
    if !isOneForBoth { try check("thumbnailImage", thumbnail, short.thumbnail) }
  }
}

/// Reads the members of an object; errors name the member.
///
/// Null counts as absent.
struct MemberReader {
  let object: JSONObject
  /// The prefix of member names in messages, such as `placeholder.`.
  let path: String

  private func value(_ name: String) -> JSONValue? {
    guard let value = object[name] else { return nil }
    if case .null = value { return nil }
    return value
  }

  private func mismatch(_ name: String, _ expected: String, _ found: String) -> FeedItemError {
    FeedItemError(path: path + name, message: "expected \(expected), found \(found)")
  }

  func text(_ name: String) throws(FeedItemError) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.text else { throw mismatch(name, "a string", value.kind) }
    return text
  }

  /// A string, or a number as written, because feeds use both as identifiers.
  func identifier(_ name: String) throws(FeedItemError) -> String? {
    guard let value = value(name) else { return nil }
    switch value {
    case .string(let text), .number(let text): return text
    default: throw mismatch(name, "a string or a number", value.kind)
    }
  }

  func count(_ name: String) throws(FeedItemError) -> Int? {
    guard let value = value(name) else { return nil }
    guard let count = value.integer, count >= 0 else {
      throw mismatch(name, "a whole number, at least 0", value.integer.map(String.init) ?? value.kind)
    }
    return count
  }

  func url(_ name: String) throws(FeedItemError) -> ImageURL? {
    guard let text = try text(name) else { return nil }
    do throws(ImageURLError) {
      return try ImageURL(text)
    } catch {
      var failure = FeedItemError(
        path: path + name,
        message: "expected an absolute http or https URL, but `\(ImageURL.shown(text))` \(error)"
      )
      if case .scheme = error { failure.namesOtherScheme = true }
      throw failure
    }
  }

  func role(_ name: String) throws(FeedItemError) -> ImageVariant.Role? {
    guard let text = try text(name) else { return nil }
    guard let role = ImageVariant.Role(rawValue: text) else {
      throw mismatch(name, "`original` or `thumbnail`", "`\(text)`")
    }
    return role
  }

  /// The kind; nil for other values, because an item may have a member of that name with another meaning.
  func kind(_ name: String) -> FeedItem.Kind? { value(name)?.text.flatMap(FeedItem.Kind.init) }

  func color(_ name: String) throws(FeedItemError) -> String? {
    guard let text = try text(name) else { return nil }
    guard text.first == "#", text.count == 7, text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit })
    else {
      throw mismatch(name, "a colour such as `#336699`", "`\(text)`")
    }
    return text
  }

  func array(_ name: String) throws(FeedItemError) -> [JSONValue]? {
    guard let value = value(name) else { return nil }
    guard case .array(let elements) = value else { throw mismatch(name, "an array", value.kind) }
    return elements
  }

  func object(_ name: String) throws(FeedItemError) -> MemberReader? {
    guard let value = value(name) else { return nil }
    guard case .object(let object) = value else { throw mismatch(name, "an object", value.kind) }
    return MemberReader(object: object, path: path + name + ".")
  }
}
