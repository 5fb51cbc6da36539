/// Base64 (RFC 4648 §4), also without padding and in the URL-safe alphabet of §5.
package enum Base64 {
  /// The decoded bytes; nil for invalid base64.
  package static func decode(_ text: String) -> [UInt8]? {
    let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
    guard digits.count % 4 != 1, text.utf8.count - digits.count <= 2 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3 + 2)
    var (bits, count) = (0, 0)
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      bits = bits << 6 | value
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(bits >> count))
      bits &= 1 << count - 1
    }
    return bytes
  }

  /// Encodes bytes in the URL-safe alphabet, without padding.
  package static func encodeForURL(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in bytes {
      bits = bits << 8 | Int(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(digits[bits >> count & 63])
      }
      bits &= 1 << count - 1
    }
    if count > 0 { text.append(digits[bits << (6 - count) & 63]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func value(of digit: UInt8) -> Int? {
    switch digit {
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: digits.firstIndex(of: digit)
    }
  }
}
