/// Percent-encoding as far as a URL needs it to be sent (RFC 3986 §2.1).
enum PercentCoding {
  /// Encodes white space, control characters and all that is not ASCII; what is encoded stays as it is.
  ///
  /// Servers put raw UTF-8, and even spaces, into `Location`, and so do feeds into URLs.
  static func encodingUnsafe(_ text: String) -> String {
    let isEncoded = text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isSafe) }
    guard !(isEncoded ?? text.utf8.allSatisfy(isSafe)) else { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if isSafe(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func isSafe(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }
}
