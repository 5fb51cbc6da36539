import CXXHash
import FeedimgHTTPCache

/// A strong entity tag (RFC 9110 §8.8.3).
struct EntityTag: Sendable, Hashable {
  /// The tag with its quotes.
  let text: String

  /// The tag of a body: its length and checksum.
  init(of bytes: [UInt8]) {
    let checksum = bytes.withUnsafeBytes { feedimg_xxh3_hash($0.baseAddress, $0.count) }
    self.init(length: bytes.count, checksum: checksum)
  }

  /// The tag of a body with this length and this XXH3 checksum.
  init(length: Int, checksum: UInt64) {
    text = "\"\(String(length, radix: 16))-\(String(checksum, radix: 16))\""
  }
}

/// The entity tags in a field such as `If-None-Match` (RFC 9110 §8.8.3, §13.1.2).
struct EntityTagList: Sendable {
  /// Whether the field is `*`.
  let isAny: Bool
  /// The tags with their quotes, and with `W/` where they are weak.
  private let tags: [Substring]

  /// Reads a list; a comma within quotes is part of the tag.
  init(_ field: String) {
    isAny = field[...].trimmed == "*"
    var isQuoted = false
    tags = field.split(omittingEmptySubsequences: false) { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
    .map(\.trimmed)
  }

  /// Whether the list contains a tag by weak comparison (§8.8.3.2), or is `*`.
  func contains(_ tag: String) -> Bool {
    isAny || tags.contains { Self.opaque($0) == Self.opaque(tag[...]) }
  }

  /// Whether the list contains a tag by strong comparison (§8.8.3.2), or is `*`.
  func containsStrongly(_ tag: String) -> Bool {
    isAny || !tag.hasPrefix("W/") && tags.contains { $0 == tag }
  }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
