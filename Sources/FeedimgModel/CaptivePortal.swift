/// Recognises a captive portal: a network that replaces responses with its login page until the user logs in.
package enum CaptivePortal {
  /// Whether a body that is not an image looks like an HTML page, by its `Content-Type` and first bytes.
  package static func isPage(mediaType: String?, prefix: [UInt8]) -> Bool {
    if let mediaType {
      let name = mediaType.lowercased().prefix { $0 != ";" && $0 != " " }
      if name == "text/html" || name == "application/xhtml+xml" { return true }
    }
    let text = String(decoding: prefix.prefix(64), as: UTF8.self).lowercased()
    let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
  }

  /// The hint that error messages append.
  package static let words = "this network may require you to sign in"

  /// Whether the status means Network Authentication Required (RFC 6585 §6).
  package static func isStatus(_ status: Int) -> Bool { status == 511 }
}
