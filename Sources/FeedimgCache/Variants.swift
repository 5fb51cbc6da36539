package import FeedimgModel

/// Which fields of a request a response depends on (RFC 9110 §12.5.5).
package struct Vary: Sendable, Hashable {
  /// In lower case, in order, each once.
  package var names: [String]
  /// Whether it depends on more than the request says, so that it answers no other request.
  package var isOpen: Bool

  package init(_ fields: HTTPFields) {
    let elements = (fields["Vary"] ?? "").split(separator: ",").map(Self.normal).filter { !$0.isEmpty }
    isOpen = elements.contains("*")
    names = Set(elements).subtracting(["*"]).sorted()
  }

  /// The fields of a request that have to be kept with the response.
  package func select(from request: HTTPFields) -> HTTPFields {
    HTTPFields(request.fields.filter { names.contains($0.name.lowercased()) })
  }

  /// Whether a response to one request may response another (RFC 9111 §4.1).
  ///
  /// Fields match when they are both absent, or the same but for the white space around their elements.
  package func matches(_ stored: HTTPFields, _ request: HTTPFields) -> Bool {
    !isOpen && names.allSatisfy { Self.elements(stored[$0]) == Self.elements(request[$0]) }
  }

  /// A number that is the same for requests which say the same.
  func digest(of request: HTTPFields) -> UInt64 {
    let lines = names.map { name in
      // An absent field differs from an empty one.
      name + (Self.elements(request[name]).map { ":" + $0.joined(separator: ",") } ?? "")
    }
    return Checksum.of(lines.joined(separator: "\n"))
  }

  private static func elements(_ value: String?) -> [String]? {
    value.map { QuotedList.split($0).map { String(trimmed($0)) } }
  }

  private static func normal(_ text: Substring) -> String { trimmed(text).lowercased() }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }
}

extension StoredResponse {
  /// Whether the response may serve a request with these fields, as far as `Vary` tells (RFC 9111 §4.1).
  package func matches(_ request: HTTPFields) -> Bool { Vary(head.fields).matches(varied, request) }
}

/// The keys under which several responses of one URL are kept, chosen by fields of the request (RFC 9111 §4.1).
///
/// The response that came first has the key of the URL, and its `Vary` tells what the others were chosen by. Each of those
/// has one of a few further keys, which follows from these fields: so it is found without a search, and a URL has no
/// more answers than that, as those which share a key displace each other.
enum VariantKey {
  /// How many further keys a URL has.
  static let count: UInt64 = 4

  /// The further key for what was chosen by these fields.
  static func of(_ key: String, _ vary: Vary, _ request: HTTPFields) -> String {
    further(key, vary.digest(of: request) % count)
  }

  /// All that a URL may have.
  static func all(_ key: String) -> [String] { [key] + (0..<count).map { further(key, $0) } }

  /// The key of the URL alone.
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
  /// An entry with the response that brought it, if that can be read.
  struct Found {
    var entry: CacheIndex.Entry
    var response: StoredResponse?
  }

  /// The entry that answers a request: one that was chosen by the same fields, else the one that came first.
  ///
  /// - Parameters:
  ///   - key: That of the URL.
  ///   - request: What is sent; nil for the one that came first.
  /// - Returns: Nil where there is none.
  func find(_ key: String, for request: HTTPFields?) -> Found? {
    guard let entry = entry(of: key) else { return nil }
    let first = Found(entry: entry, response: StoredResponse(entry.record))
    guard let request, let response = first.response else { return first }
    let vary = Vary(response.head.fields)
    guard !vary.names.isEmpty, !vary.isOpen, !vary.matches(response.varied, request) else { return first }
    guard let other = self.entry(of: VariantKey.of(key, vary, request)), !isExpired(other),
      let brought = StoredResponse(other.record), brought.matches(request)
    else { return first }
    return Found(entry: other, response: brought)
  }

  /// The key to keep a response under: that of its URL, unless another one has it that serves other requests.
  func key(for metadata: ImageMetadata) -> String {
    let vary = Vary(metadata.head.fields)
    guard !vary.names.isEmpty, !vary.isOpen, let entry = entry(of: metadata.key), !isExpired(entry),
      let first = StoredResponse(entry.record), Vary(first.head.fields) == vary,
      !vary.matches(first.varied, metadata.varied)
    else { return metadata.key }
    return VariantKey.of(metadata.key, vary, metadata.varied)
  }
}

/// The key of the responses to `GET /v1/fetch` for one URL, in the disk cache and in memory.
///
/// Requests with different credentials never share a response.
package struct ResponseKey: Sendable, Hashable {
  package let text: String

  package init(_ url: ImageURL, _ request: HTTPFields) {
    let credentials = ["Authorization", "Cookie"].compactMap { name in request[name].map { "\(name): \($0)" } }
    let mark = credentials.isEmpty ? "" : " by \(Self.hash(credentials))"
    text = Self.prefix + url.key + mark
  }

  /// Whether a key is one of these. The key of an image is its URL, which has no space.
  static func isResponse(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

  private static let prefix = "response "

  /// A text that differs for requests that may get different responses, as `Vary` is not known before the response.
  package static func identity(_ fields: HTTPFields) -> String {
    hash(fields.fields.map { "\($0.name.lowercased()):\($0.value)" }.sorted())
  }

  /// Of parts without line ends, which no field has.
  private static func hash(_ parts: [String]) -> String {
    Checksum.of(parts.joined(separator: "\n")).hexadecimal
  }
}
