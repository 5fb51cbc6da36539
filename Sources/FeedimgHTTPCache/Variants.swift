package import FeedimgModel

/// The request fields on which a response depends (RFC 9110 §12.5.5).
package struct Vary: Sendable, Hashable {
  /// The names in lower case, sorted, each once.
  package var names: [String]
  /// Whether the response depends on more than the request (`*`), so that it serves no other request.
  package var isOpen: Bool

  package init(_ fields: HTTPFields) {
    let elements = (fields["Vary"] ?? "").split(separator: ",")
      .map { $0.trimmed.lowercased() }.filter { !$0.isEmpty }
    isOpen = elements.contains("*")
    names = Set(elements).subtracting(["*"]).sorted()
  }

  /// The request fields to store with the response.
  package func select(from request: HTTPFields) -> HTTPFields {
    HTTPFields(request.fields.filter { names.contains($0.name.lowercased()) })
  }

  /// Whether the response to one request may serve another (RFC 9111 §4.1).
  ///
  /// Fields match if both are absent, or equal except for white space around their elements.
  package func matches(_ stored: HTTPFields, _ request: HTTPFields) -> Bool {
    !isOpen && names.allSatisfy { Self.elements($0, of: stored) == Self.elements($0, of: request) }
  }

  /// Equal for requests that match each other.
  func digest(of request: HTTPFields) -> UInt64 {
    let lines = names.map { name in
      // An absent field differs from an empty one.
      name + (Self.elements(name, of: request).map { ":" + $0.joined(separator: ",") } ?? "")
    }
    return Checksum.of(lines.joined(separator: "\n"))
  }

  private static func elements(_ name: String, of fields: HTTPFields) -> [String]? {
    guard let value = fields[name] else { return nil }
    let hidden = hidden(HTTPFields.Field(name: name, value: value))
    return QuotedList.split(hidden).map { String($0.trimmed) }
  }

  /// The value of a request field as it is stored: a hash for credentials, which no file contains.
  static func hidden(_ field: HTTPFields.Field) -> String {
    guard field.isCredential, !field.value.hasPrefix(hashPrefix) else { return field.value }
    return hashPrefix + Checksum.of(field.value).hexadecimal
  }

  private static let hashPrefix = "xxh3 "
}

extension StoredResponse {
  /// Whether the response may serve a request with these fields, as far as `Vary` tells (RFC 9111 §4.1).
  package func matches(_ request: HTTPFields) -> Bool { Vary(head.fields).matches(varied, request) }
}

/// The keys of the variants of a URL, which request fields select (RFC 9111 §4.1).
///
/// The first variant has the key of the URL, and its `Vary` names the selecting fields. Each other variant has one of
/// four more keys, derived from these fields. So no search is needed. Variants with the same key replace each other.
enum VariantKey {
  /// The number of further keys.
  static let count: UInt64 = 4

  /// The further key for a request.
  static func of(_ key: String, _ vary: Vary, _ request: HTTPFields) -> String {
    further(key, vary.digest(of: request) % count)
  }

  /// All keys of a URL.
  static func all(_ key: String) -> [String] { [key] + (0..<count).map { further(key, $0) } }

  /// The key of the URL, without the number of a variant.
  static func url(_ key: String) -> String {
    let end = key.utf8.suffix(3)
    return end.starts(with: mark.utf8) && end.last.map { (48..<58).contains($0) } == true
      ? String(key.dropLast(3)) : key
  }

  private static func further(_ key: String, _ number: UInt64) -> String { "\(key)\(mark)\(number)" }

  /// No URL has a space.
  private static let mark = " #"
}

extension DiskCache {
  /// An entry with its response, if that can be read.
  typealias Found = (entry: CacheIndex.Entry, response: StoredResponse?)

  /// The entry for a request: the variant that the request selects, otherwise the first one.
  func find(_ key: String, for request: HTTPFields?) -> Found? {
    guard let entry = entry(of: key) else { return nil }
    let first = (entry: entry, response: StoredResponse(entry.record))
    guard let request, let response = first.response else { return first }
    let vary = Vary(response.head.fields)
    guard !vary.names.isEmpty, !vary.isOpen, !vary.matches(response.varied, request) else { return first }
    guard let other = self.entry(of: VariantKey.of(key, vary, request)), !isExpired(other),
      let brought = StoredResponse(other.record), brought.matches(request)
    else { return first }
    return (other, brought)
  }

  /// The key for a new response: that of the URL, unless another variant has it.
  func key(for metadata: ImageMetadata) -> String {
    let vary = Vary(metadata.response.head.fields)
    guard !vary.names.isEmpty, !vary.isOpen, let entry = entry(of: metadata.key), !isExpired(entry),
      let first = StoredResponse(entry.record), Vary(first.head.fields) == vary,
      !vary.matches(first.varied, metadata.response.varied)
    else { return metadata.key }
    return VariantKey.of(metadata.key, vary, metadata.response.varied)
  }
}

/// The key of an image or a response that was requested on behalf of an account.
package enum AccountKey {
  /// Returns the key of a URL for an account.
  ///
  /// - Parameters:
  ///   - key: The key of the URL.
  ///   - account: The fields that name the account; the key has only their hash.
  /// - Returns: The key, which no URL has; `key` if there are no fields.
  package static func of(_ key: String, _ account: HTTPFields) -> String {
    account.fields.isEmpty ? key : key + ImageURL.hashMark + ResponseKey.identity(account)
  }
}

/// The key of the responses to `GET /v1/fetch` for one URL, in the disk cache and in memory.
///
/// Requests with different credentials never share a response.
package struct ResponseKey: Sendable, Hashable {
  package let text: String

  package init(_ url: ImageURL, _ request: HTTPFields) {
    text = Self.text(AccountKey.of(url.key, HTTPFields(request.fields.filter(\.isCredential))))
  }

  /// The key of a response whose image would have this key.
  static func text(_ key: String) -> String { prefix + key }

  /// Whether a key is one of these.
  ///
  /// The key of an image is its URL, which has no space.
  static func isResponse(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

  private static let prefix = "response "

  /// A text that differs for requests that may get different responses, as `Vary` is unknown before the response.
  package static func identity(_ fields: HTTPFields) -> String {
    // The parts have no line feeds, as no field has one.
    let parts = fields.fields.map { "\($0.name.lowercased()):\($0.value)" }.sorted()
    return Checksum.of(parts.joined(separator: "\n")).hexadecimal
  }
}
