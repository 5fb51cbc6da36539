/// The name of the file that holds one body, never given twice.
///
/// `3f…-9a….jpg`: the hash of the key, so that the entry is found from its file; a random number, so that a new body
/// of the same key never takes the place of one that somebody reads; and the ending that decoders expect.
struct BodyName: Sendable, Hashable {
  let keyHash: UInt64
  let serial: UInt64
  let ending: String

  /// A name that no body has had before.
  init(key: String, mediaType: String) {
    keyHash = Checksum.of(key)
    serial = UInt64.random(in: .min ... .max)
    ending = Self.ending(for: mediaType)
  }

  /// Reads a name; nil for what the cache has not named.
  init?(_ text: some StringProtocol) {
    self.init(utf8: Array(text.utf8))
  }

  init?(utf8 bytes: some RandomAccessCollection<UInt8>) {
    let ending = bytes.dropFirst(33)
    guard bytes.count >= 33, bytes.dropFirst(16).first == UInt8(ascii: "-"),
      let keyHash = UInt64(hexadecimal: bytes.prefix(16)),
      let serial = UInt64(hexadecimal: bytes.dropFirst(17).prefix(16)),
      ending.isEmpty || Self.isEnding(ending)
    else { return nil }
    self.keyHash = keyHash
    self.serial = serial
    self.ending = String(decoding: ending, as: UTF8.self)
  }

  /// Of a name, in bytes.
  static let greatestLength = 16 + 1 + 16 + 5

  var text: String {
    String(unsafeUninitializedCapacity: Self.greatestLength) { buffer in
      var count = 0
      write { byte in
        buffer[count] = byte
        count += 1
      }
      return count
    }
  }

  func write(_ write: (UInt8) -> Void) {
    keyHash.writeHexadecimal(write)
    write(UInt8(ascii: "-"))
    serial.writeHexadecimal(write)
    ending.utf8.forEach(write)
  }

  var shard: Shard { Shard(keyHash: keyHash) }

  private static func isEnding(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first == UInt8(ascii: ".") && (2...5).contains(bytes.count)
      && bytes.dropFirst().allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
  }

  /// The usual ending of files of a media type; empty where the type is none that a decoder takes.
  static func ending(for mediaType: String) -> String {
    switch mediaType.prefix(while: { $0 != ";" && $0 != " " }).lowercased() {
    case "image/jpeg", "image/jpg": ".jpg"
    case "image/png", "image/apng": ".png"
    case "image/webp": ".webp"
    case "image/gif": ".gif"
    case "image/avif": ".avif"
    case "image/heic", "image/heif": ".heic"
    case "image/jxl": ".jxl"
    case "image/svg+xml": ".svg"
    case "image/bmp": ".bmp"
    case "image/tiff": ".tiff"
    case "image/x-icon", "image/vnd.microsoft.icon": ".ico"
    default: ""
    }
  }
}

/// One of the 256 folders that the bodies are spread over.
struct Shard: Sendable, Hashable {
  let number: UInt8

  static let all = (0...UInt8.max).map { Shard(number: $0) }

  init(number: UInt8) { self.number = number }

  init(keyHash: UInt64) { number = UInt8(truncatingIfNeeded: keyHash >> 56) }

  /// Two hexadecimal digits.
  var name: String { String(UInt64(number).hexadecimal.suffix(2)) }

  /// The hashes of keys that belong here, as the index counts them.
  var identifiers: ClosedRange<Int64> {
    let first = UInt64(number) << 56
    return Int64(bitPattern: first)...Int64(bitPattern: first | (UInt64.max >> 8))
  }
}
