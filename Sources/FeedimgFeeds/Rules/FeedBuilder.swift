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
    _ read: (JSONValue, inout FeedBuilder) -> Void
  ) throws(FeedError) {
    let document: JSONValue
    do throws(JSONError) {
      document = try JSONReader.value(in: bytes)
    } catch {
      throw FeedError(.malformed, "not JSON: \(error.message)", line: error.line, column: error.column)
    }
    switch document {
    case .object, .array: read(document, &self)
    default: throw FeedError(.otherFormat, "expected an object or an array, found \(document.kind)")
    }
  }

  /// Reads entries of JSON: one value, or the elements of an array.
  mutating func entries(in value: JSONValue, _ read: (JSONValue, inout Entry) -> Void) {
    guard case .array(let elements) = value else { return entry(value, read) }
    for element in elements { entry(element, read) }
  }

  private mutating func entry(_ value: JSONValue, _ read: (JSONValue, inout Entry) -> Void) {
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
