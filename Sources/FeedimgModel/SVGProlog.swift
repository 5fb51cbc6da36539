/// What stands before the root element of an XML document (XML 1.0 §2.8), as far as it tells SVG from other things.
enum SVGProlog {
  enum Reading: Equatable {
    /// The root element is `svg`.
    case svg
    /// It is another one, or this is no XML.
    case other
    /// The text ends before the root element begins.
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
    // An `svg` may also be spelled with its namespace, `svg:svg`.
    guard let next = rest.dropFirst(4).first else { return .svg }
    return isSpace(next) || [0x2F, 0x3A, 0x3E].contains(next) ? .svg : .other
  }

  /// Past the `>` of a document type, which may hold declarations of its own in brackets.
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

  /// Compared without case, as HTML is.
  private static func begins(_ text: ArraySlice<UInt8>, _ word: String) -> Bool {
    text.prefix(word.utf8.count).elementsEqual(word.utf8) { lowered($0) == $1 }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
