import CXXHash

/// What tells one body from another (RFC 9110 §8.8.3); always strong.
struct EntityTag: Sendable, Hashable {
  private let length: Int
  private let checksum: UInt64

  /// With its quotes.
  var text: String { "\"\(String(length, radix: 16))-\(String(checksum, radix: 16))\"" }

  /// The tag of a body: its length and checksum.
  init(of bytes: [UInt8]) {
    let checksum = bytes.withUnsafeBytes { feedimg_xxh3_hash($0.baseAddress, $0.count) }
    self.init(length: bytes.count, checksum: checksum)
  }

  /// The tag of a body of which both are known; the checksum is that of XXH3.
  init(length: Int, checksum: UInt64) { (self.length, self.checksum) = (length, checksum) }

  /// Whether a list such as `If-None-Match` names the tag or is `*`; weakness is of no account there (§13.1.2).
  func isNamed(in list: String) -> Bool { EntityTagList(list).names(text) }

  /// Whether a list such as `If-Match` names the tag as strong or is `*` (§13.1.1).
  func isNamedStrongly(in list: String) -> Bool { EntityTagList(list).namesStrongly(text) }
}
