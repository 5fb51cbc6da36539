/// Tells the signs of a network that answers in place of servers until its user has logged in.
package enum CaptivePortal {
  /// Whether a body that is no image looks like a page, by its `Content-Type`, if any, and its first bytes.
  package static func isPage(mediaType: String?, prefix: [UInt8]) -> Bool {
    if let mediaType {
      let name = mediaType.lowercased().prefix { $0 != ";" && $0 != " " }
      if name == "text/html" || name == "application/xhtml+xml" { return true }
    }
    let text = String(decoding: prefix.prefix(64), as: UTF8.self).lowercased()
    let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
  }

  /// What to say of it, after what was seen.
  package static let words = "perhaps this network wants you to sign in first"

  /// Whether the status says so (RFC 6585 §6, Network Authentication Required).
  package static func isStatus(_ status: Int) -> Bool { status == 511 }
}
