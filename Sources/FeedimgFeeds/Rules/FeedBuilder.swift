import FeedimgJSON
import FeedimgModel

/// The items and warnings of a document so far.
struct FeedBuilder {
  /// The URL to which relative URLs refer, if known.
  var base: String?
  private(set) var items: [FeedItem] = []
  private(set) var warnings: [FeedWarning] = []
  private(set) var warningCount = 0
  private var entryCount = 0

  init(base: String?) { self.base = base }

  /// Reads the next entry.
  ///
  /// - Parameters:
  ///   - id: The identifier of the entry, for warnings.
  ///   - read: Adds the pictures and faults of the entry.
  /// - Throws: The error of `read`.
  mutating func entry<Failure>(
    _ id: String?,
    _ read: (inout Entry) throws(Failure) -> Void
  ) throws(Failure) {
    entryCount += 1
    var entry = Entry(base: base)
    try read(&entry)
    items += entry.items
    warningCount += entry.faults.count
    for fault in entry.faults.prefix(FeedLimits.warnings - warnings.count) {
      warnings.append(FeedWarning(entry: entryCount, id: id, message: fault))
    }
  }

  /// Reads a JSON document.
  ///
  /// - Throws: ``FeedError`` for text that is not JSON, and for a document that is neither an object nor an array.
  mutating func read(
    _ bytes: [UInt8],
    _ read: (JSONText, inout FeedBuilder) throws(JSONError) -> Void
  ) throws(FeedError) {
    var scalar: JSONValue?
    do throws(JSONError) {
      try JSONText.read(bytes) { text throws(JSONError) in
        if text.isObject || text.isArray { try read(text, &self) } else { scalar = try text.value() }
      }
    } catch {
      throw FeedError(.malformed, "not JSON: \(error.message)", line: error.line, column: error.column)
    }
    guard let scalar else { return }
    throw FeedError(.otherFormat, "expected an object or an array, found \(scalar.kind)")
  }

  /// Reads entries of JSON: one value, or the elements of an array one after another.
  mutating func entries(
    in text: JSONText,
    _ read: (JSONValue, inout Entry) -> Void
  ) throws(JSONError) {
    guard text.isArray else { return try entry(text, read) }
    try text.forEachElement { element throws(JSONError) in try entry(element, read) }
  }

  private mutating func entry(
    _ text: JSONText,
    _ read: (JSONValue, inout Entry) -> Void
  ) throws(JSONError) {
    guard text.length <= FeedLimits.entryLength else { return entry(nil) { $0.reportLength() } }
    let value = try text.value()
    entry(value.identifier) { entry in
      guard case .object = value else { return entry.report(nil, "expected an object, found \(value.kind)") }
      read(value, &entry)
    }
  }
}

extension JSONValue {
  /// The member of an object; nil for other values, and for null.
  subscript(name: String) -> JSONValue? {
    guard case .object(let object) = self, let value = object[name], value != .null else { return nil }
    return value
  }

  /// The identifier in the member `id`: a string, or a number as written.
  var identifier: String? {
    if case .number(let text)? = self["id"] { return text }
    return self["id"]?.text
  }
}
