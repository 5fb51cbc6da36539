import CCurl

/// URLs under libcurl's rules.
enum CurlURL {
  /// Resolves a `Location` to an absolute URL with libcurl (RFC 3986 §5.2); nil if libcurl cannot read it.
  static func resolve(_ location: String, against base: String, _ library: CurlLibrary) -> String? {
    // A fragment alone refers to the base itself. libcurl 7.88 would drop the last path segment.
    guard !location.hasPrefix("#") else { return base }
    let functions = library.functions
    guard let url = functions.url() else { return nil }
    defer { functions.url_cleanup(url) }
    for text in [base, location] {
      guard functions.url_set(url, CURLUPART_URL, encodingUnsafe(text), 0) == CURLUE_OK else { return nil }
    }
    var text: UnsafeMutablePointer<CChar>?
    guard functions.url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { functions.free(text) }
    return String(cString: text)
  }

  /// Percent-encodes white space, control characters and non-ASCII; keeps existing encodings (RFC 3986 §2.1).
  ///
  /// Some servers and feeds put raw UTF-8 or even spaces into URLs. libcurl's own encoding
  /// (`CURLU_URLENCODE`) writes a space in a query as `+`, uses lower-case digits and rejects tabs.
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
