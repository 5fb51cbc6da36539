/// The first ``ImageFormat/prefixLength`` bytes of a file, and the media type that its server declared.
struct ImagePrefix {
  let bytes: [UInt8]
  let declared: String?

  func has(_ other: [UInt8], at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: other) }

  func has(_ text: String, at offset: Int = 0) -> Bool {
    bytes.dropFirst(offset).starts(with: text.utf8)
  }

  /// Whether the file has one of these brands of the ISO base media file format.
  func hasBrand(in names: [String]) -> Bool {
    guard has("ftyp", at: 4) else { return false }
    // The major brand and the compatible brands, in the first box.
    let brands = stride(from: 8, to: min(bytes.count, 64) - 3, by: 4).map { bytes[$0..<$0 + 4] }
    return brands.contains { brand in names.contains { brand.elementsEqual($0.utf8) } }
  }

  /// Checks the header, because some texts also start with `BM`.
  var isBitmap: Bool {
    guard bytes.count >= 18, has("BM") else { return false }
    let headerSize = bytes[14..<18].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    let known: [UInt32] = [12, 16, 40, 52, 56, 64, 108, 124]
    return bytes[6..<10].allSatisfy { $0 == 0 } && known.contains(headerSize)
  }

  var isSVG: Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    // White space, comments, declarations and a document type may precede the root element (XML 1.0 §2.8).
    let prolog = /(?is)\x{FEFF}?(\s|<!--.*?-->|<\?.*?\?>|<!doctype\s+svg[^\[>]*(\[[^\]]*(\]|$))?([^>]*>|$))*/
    let end = text.prefixMatch(of: prolog.matchingSemantics(.unicodeScalar))?.range.upperBound
    let root = text[(end ?? text.startIndex)...]
    // The root may have the namespace prefix `svg:`, as in `svg:svg`.
    if root.prefixMatch(of: /(?i)<svg([\s\/:>]|$)/) != nil { return true }
    // Comments and a document type may fill the prefix; then only the server's type is left.
    let isOpen = root.isEmpty || root.prefixMatch(of: /(?i)<(!--|\?|!doctype\s+svg)/) != nil
    return isOpen && bytes.count >= ImageFormat.prefixLength
      && declared?.lowercased().hasPrefix("image/svg+xml") ?? false
  }
}
