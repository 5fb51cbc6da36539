import CXML

/// The character encoding of an XML or HTML document.
///
/// Declarations are often wrong. A document that is valid UTF-8 is therefore UTF-8, whatever it declares.
struct MarkupEncoding: Equatable {
  /// The name for libxml2.
  var name: String
  /// The offset of the text after a byte order mark and, as in browsers, after white space.
  var start = 0

  init(name: String) { self.name = name }

  init(of bytes: [UInt8]) {
    let isUTF16 = [[0xFE, 0xFF], [0xFF, 0xFE]].contains(Array(bytes.prefix(2)))
    if isUTF16 || bytes.starts(with: [0x3C, 0]) || bytes.starts(with: [0, 0x3C]) {
      name = bytes[0] == 0xFF || bytes[0] == 0x3C ? "UTF-16LE" : "UTF-16BE"
      start = isUTF16 ? 2 : 0
      return
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
    start += bytes[start...].prefix { $0 == 0x20 || (0x09...0x0D).contains($0) }.count
    let declared = Self.declared(in: bytes.prefix(start + 1024))
    // The only common encoding of several bytes a character whose text may look like UTF-8.
    if declared.hasPrefix("iso-2022"), Self.isKnown(declared) {
      name = declared
    } else if Self.isUTF8(bytes) {
      name = "UTF-8"
    } else if declared.hasPrefix("utf") || Self.westernNames.contains(declared) || !Self.isKnown(declared) {
      // The default of browsers. Its five undefined bytes are control characters in ISO 8859-1.
      let isWindows = !bytes.contains { [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains($0) }
      name = isWindows && Self.isKnown("windows-1252") ? "windows-1252" : "ISO-8859-1"
    } else {
      name = declared
    }
  }

  /// The code units of a text in UTF-16.
  static func units(of text: some RandomAccessCollection<UInt8>, isLittle: Bool) -> [UInt16] {
    let bytes = Array(text)
    return stride(from: 0, to: bytes.count - 1, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isLittle ? second << 8 | first : first << 8 | second
    }
  }

  /// Names that browsers read as Windows-1252 (WHATWG Encoding §4.2).
  private static let westernNames = [
    "", "ascii", "us-ascii", "iso-8859-1", "latin1", "windows-1252", "cp1252",
  ]

  /// Whether the bytes are UTF-8, except for a character that the end of the document cuts.
  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    var end = bytes.endIndex
    while end > 0, bytes.endIndex - end < 3, bytes[end - 1] >= 0x80 { end -= 1 }
    if end > 0, bytes[end - 1] >= 0x80 { end = bytes.endIndex }
    return bytes[..<end].withUnsafeBufferPointer { text in
      text.allSatisfy { $0 < 0x80 } || String(validating: text, as: UTF8.self) != nil
    }
  }

  /// The name in `encoding="…"` of an XML declaration or `charset=…` of a page, in lower case; or an empty text.
  private static func declared(in start: ArraySlice<UInt8>) -> String {
    let text = String(decoding: start, as: UTF8.self).lowercased()
    let isXML = text.hasPrefix("<?xml")
    let head = isXML ? text.prefix { $0 != ">" } : text[...]
    guard let mark = head.firstRange(of: isXML ? "encoding" : "charset") else { return "" }
    let value = head[mark.upperBound...].drop { $0.isWhitespace || "=\"'".contains($0) }
    return String(value.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_:.".contains($0)) })
  }

  private static func isKnown(_ name: String) -> Bool {
    guard !name.isEmpty, let xml = cxml_open()?.pointee, let handler = xml.FindCharEncodingHandler(name)
    else {
      return false
    }
    _ = xml.CharEncCloseFunc(handler)
    return true
  }
}
