import FeedimgModel

/// The file name of one body, which is never used twice.
///
/// In `3f…-9a….jpg`, `3f…` is the hash of the key, so that a file leads to its entry. `9a…` is random, so that a new
/// body never replaces a file that a program is reading. The ending is the usual one of the media type;
/// unknown types have none.
struct BodyName: Sendable, Hashable {
  let text: String
  let keyHash: UInt64

  /// A new name.
  init(key: String, mediaType: String) {
    keyHash = Checksum.of(key)
    let serial = UInt64.random(in: .min ... .max).hexadecimal
    let ending = ImageFormat(mediaType: mediaType).map { ".\($0.fileEnding)" } ?? ""
    text = "\(keyHash.hexadecimal)-\(serial)\(ending)"
  }

  /// Reads a name; nil if the cache did not make it.
  init?(_ text: some StringProtocol) {
    self.init(utf8: Array(text.utf8))
  }

  init?(utf8 bytes: some RandomAccessCollection<UInt8>) {
    let ending = bytes.dropFirst(33)
    guard bytes.count >= 33, bytes.dropFirst(16).first == UInt8(ascii: "-"),
      let keyHash = UInt64(hexadecimal: bytes.prefix(16)),
      UInt64(hexadecimal: bytes.dropFirst(17).prefix(16)) != nil,
      ending.isEmpty || Self.isEnding(ending)
    else { return nil }
    self.keyHash = keyHash
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// The file ending, with its dot.
  var ending: Substring { text.dropFirst(33) }

  var shard: Shard { Shard(keyHash: keyHash) }

  private static func isEnding(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first == UInt8(ascii: ".") && (2...5).contains(bytes.count)
      && bytes.dropFirst().allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
  }
}

/// One of the 256 folders of bodies.
struct Shard: Sendable, Hashable {
  let number: UInt8

  static let all = (0...UInt8.max).map { Shard(number: $0) }

  init(number: UInt8) { self.number = number }

  init(keyHash: UInt64) { number = UInt8(truncatingIfNeeded: keyHash >> 56) }

  /// Two hexadecimal digits.
  var name: String { String(UInt64(number).hexadecimal.suffix(2)) }

  /// The identifiers of the entries whose bodies are in this folder.
  var identifiers: ClosedRange<Int64> {
    let first = UInt64(number) << 56
    return Int64(bitPattern: first)...Int64(bitPattern: first | (UInt64.max >> 8))
  }
}
