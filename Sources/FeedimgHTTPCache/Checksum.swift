import CXXHash

/// A 64-bit XXH3 checksum of bytes that come in pieces.
struct Checksum: ~Copyable {
  private let state: OpaquePointer

  /// - Returns: Nil without memory.
  init?() {
    guard let state = feedimg_xxh3_new() else { return nil }
    self.state = state
  }

  deinit { feedimg_xxh3_free(state) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    feedimg_xxh3_update(state, base, bytes.count)
  }

  /// The checksum of all bytes so far.
  var value: UInt64 { feedimg_xxh3_digest(state) }

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    feedimg_xxh3_hash(bytes.baseAddress, bytes.count)
  }

  static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { of($0) } }

  static func of(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
  }
}

extension UInt64 {
  /// Reads sixteen hexadecimal digits in lower case; nil for anything else.
  init?(hexadecimal digits: some Collection<UInt8>) {
    guard digits.count == 16 else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case 48...57: value = value << 4 | UInt64(digit - 48)
      case 97...102: value = value << 4 | UInt64(digit - 87)
      default: return nil
      }
    }
    self = value
  }
}
