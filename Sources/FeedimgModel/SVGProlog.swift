/// The text before the root element of an XML document (XML 1.0 §2.8), read to detect SVG.
enum SVGProlog {
  enum Reading: Equatable {
    /// The root element is `svg`.
    case svg
    /// The root element is another one, or the text is not XML.
    case other
    /// The text ends before the root element starts.
    case open
  }

  /// Skips a byte order mark, white space, declarations and comments, then looks at the root element.
  static func read(_ text: [UInt8]) -> Reading {
    var rest = text[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    while true {
      rest = rest.drop(while: isSpace)
      if begins(rest, "<!--") {
        guard let after = skip(rest.dropFirst(4), past: "-->") else { return .open }
        rest = after
      } else if begins(rest, "<?") {
        guard let after = skip(rest.dropFirst(2), past: "?>") else { return .open }
        rest = after
      } else if begins(rest, "<!doctype") {
        let name = rest.dropFirst(9).drop(while: isSpace)
        guard begins(name, "svg") else { return .other }
        guard let after = skipDeclaration(name) else { return .open }
        rest = after
      } else {
        return root(rest)
      }
    }
  }

  private static func root(_ rest: ArraySlice<UInt8>) -> Reading {
    guard !rest.isEmpty else { return .open }
    guard begins(rest, "<svg") else { return .other }
    // The root may have the namespace prefix `svg:`, as in `svg:svg`.
    guard let next = rest.dropFirst(4).first else { return .svg }
    return isSpace(next) || [0x2F, 0x3A, 0x3E].contains(next) ? .svg : .other
  }

  /// Skips a document type declaration up to its `>`. It may contain declarations in brackets.
  private static func skipDeclaration(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var depth = 0
    for (index, byte) in zip(text.indices, text) {
      switch byte {
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return text[(index + 1)...]
      default: continue
      }
    }
    return nil
  }

  private static func skip(_ text: ArraySlice<UInt8>, past end: String) -> ArraySlice<UInt8>? {
    let mark = Array(end.utf8)
    return text.indices.first { text[$0...].starts(with: mark) }.map { text[($0 + mark.count)...] }
  }

  /// Compares without case, as in HTML.
  private static func begins(_ text: ArraySlice<UInt8>, _ word: String) -> Bool {
    text.prefix(word.utf8.count).elementsEqual(word.utf8) { lowered($0) == $1 }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
