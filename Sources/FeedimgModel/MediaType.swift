/// Detects an image format from its first bytes, because servers often send a wrong type.
///
/// Source: WHATWG MIME Sniffing §6.1, with AVIF, HEIC (ISO/IEC 23008-12), JPEG XL (ISO/IEC 18181-2), TIFF and SVG.
package enum MediaType {
  /// The number of bytes that ``sniff(_:declared:)`` inspects.
  package static let prefixLength = 512

  /// The media type of a body by its first ``prefixLength`` bytes; nil for an unknown format.
  ///
  /// The declared `Content-Type` counts only for an SVG whose root element starts after the prefix.
  package static func sniff(_ prefix: [UInt8], declared: String?) -> String? {
    func has(_ bytes: [UInt8], at offset: Int = 0) -> Bool { prefix.dropFirst(offset).starts(with: bytes) }
    func has(_ text: String, at offset: Int = 0) -> Bool { has(Array(text.utf8), at: offset) }
    if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if has("GIF87a") || has("GIF89a") { return "image/gif" }
    if has("RIFF"), has("WEBP", at: 8) { return "image/webp" }
    if has("ftyp", at: 4) { return isoBrand(prefix) }
    if has([0xFF, 0x0A]) || has([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) { return "image/jxl" }
    if isBitmap(prefix) { return "image/bmp" }
    if has([0, 0, 1, 0]) || has([0, 0, 2, 0]) { return "image/x-icon" }
    if has([0x49, 0x49, 0x2A, 0]) || has([0x4D, 0x4D, 0, 0x2A]) { return "image/tiff" }
    return isSVG(prefix, declared: declared) ? "image/svg+xml" : nil
  }

  private static func isoBrand(_ prefix: [UInt8]) -> String? {
    // The major brand and the compatible brands, in the first box.
    let brands = stride(from: 8, to: min(prefix.count, 64) - 3, by: 4).map { prefix[$0..<$0 + 4] }
    func names(_ brand: String) -> Bool { brands.contains { $0.elementsEqual(brand.utf8) } }
    if names("avif") || names("avis") { return "image/avif" }
    return names("heic") || names("heix") || names("mif1") ? "image/heic" : nil
  }

  /// Checks the header, because some texts also start with `BM`.
  private static func isBitmap(_ prefix: [UInt8]) -> Bool {
    guard prefix.count >= 18, prefix.starts(with: "BM".utf8) else { return false }
    let headerSize = prefix[14..<18].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    let known: [UInt32] = [12, 16, 40, 52, 56, 64, 108, 124]
    return prefix[6..<10].allSatisfy { $0 == 0 } && known.contains(headerSize)
  }

  private static func isSVG(_ prefix: [UInt8], declared: String?) -> Bool {
    let text = String(decoding: prefix, as: UTF8.self)
    // White space, comments, declarations and a document type may precede the root element (XML 1.0 §2.8).
    let prolog = /(?is)\x{FEFF}?(\s|<!--.*?-->|<\?.*?\?>|<!doctype\s+svg[^\[>]*(\[[^\]]*(\]|$))?([^>]*>|$))*/
    let end = text.prefixMatch(of: prolog.matchingSemantics(.unicodeScalar))?.range.upperBound
    let root = text[(end ?? text.startIndex)...]
    // The root may have the namespace prefix `svg:`, as in `svg:svg`.
    if root.prefixMatch(of: /(?i)<svg([\s\/:>]|$)/) != nil { return true }
    // Comments and a document type may fill the prefix; then only the server's type is left.
    let isOpen = root.isEmpty || root.prefixMatch(of: /(?i)<(!--|\?|!doctype\s+svg)/) != nil
    return isOpen && prefix.count >= prefixLength
      && declared?.lowercased().hasPrefix("image/svg+xml") ?? false
  }
}
