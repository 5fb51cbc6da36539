import CXXHash

/// A strong entity tag (RFC 9110 §8.8.3).
struct EntityTag: Sendable, Hashable {
  private let length: Int
  private let checksum: UInt64

  /// The tag with its quotes.
  var text: String { "\"\(String(length, radix: 16))-\(String(checksum, radix: 16))\"" }

  /// The tag of a body: its length and checksum.
  init(of bytes: [UInt8]) {
    let checksum = bytes.withUnsafeBytes { feedimg_xxh3_hash($0.baseAddress, $0.count) }
    self.init(length: bytes.count, checksum: checksum)
  }

  /// The tag of a body with this length and this XXH3 checksum.
  init(length: Int, checksum: UInt64) { (self.length, self.checksum) = (length, checksum) }

  /// Whether a field such as `If-None-Match` contains the tag by weak comparison, or is `*` (§13.1.2).
  func isIn(_ field: String) -> Bool { EntityTagList(field).contains(text) }

  /// Whether a field such as `If-Match` contains the tag by strong comparison, or is `*` (§13.1.1).
  func isStronglyIn(_ field: String) -> Bool { EntityTagList(field).containsStrongly(text) }
}
