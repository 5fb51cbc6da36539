import FeedimgModel

/// The keys under which several answers of one URL are kept, chosen by fields of the request (RFC 9111 §4.1).
///
/// The answer that came first has the key of the URL, and its `Vary` tells what the others were chosen by. Each of those
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
  /// An entry with the answer that brought it, if that can be read.
  struct Found {
    var entry: CacheIndex.Entry
    var answer: StoredAnswer?
  }

  /// The entry that answers a request: one that was chosen by the same fields, else the one that came first.
  ///
  /// - Parameters:
  ///   - key: That of the URL.
  ///   - request: What is sent; nil for the one that came first.
  /// - Returns: Nil where there is none.
  func find(_ key: String, for request: HTTPFields?) -> Found? {
    guard let entry = entry(of: key) else { return nil }
    let first = Found(entry: entry, answer: StoredAnswer(entry.record))
    guard let request, let answer = first.answer else { return first }
    let vary = Vary(answer.head.fields)
    guard !vary.names.isEmpty, !vary.isOpen, !vary.matches(answer.varied, request) else { return first }
    guard let other = self.entry(of: VariantKey.of(key, vary, request)), !isExpired(other),
      let brought = StoredAnswer(other.record), Vary(brought.head.fields).matches(brought.varied, request)
    else { return first }
    return Found(entry: other, answer: brought)
  }

  /// The key to keep an answer under: that of its URL, unless another one has it that serves other requests.
  func key(for metadata: ImageMetadata) -> String {
    let vary = Vary(metadata.head.fields)
    guard !vary.names.isEmpty, !vary.isOpen, let entry = entry(of: metadata.key), !isExpired(entry),
      let first = StoredAnswer(entry.record), Vary(first.head.fields) == vary,
      !vary.matches(first.varied, metadata.varied)
    else { return metadata.key }
    return VariantKey.of(metadata.key, vary, metadata.varied)
  }
}
