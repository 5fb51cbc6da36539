/// Finds the tags and texts of XML and HTML with their places, which libxml2 does not report.
///
/// It reads XML that libxml2 has found to be well-formed, and any HTML (HTML §13.2.5).
struct MarkupScanner {
  enum Token {
    case tag(MarkupTag)
    case text(Range<Int>)
    /// A CDATA section without its delimiters, in XML.
    case literal(Range<Int>)
  }

  private let bytes: [UInt8]
  private let isXML: Bool
  private var offset = 0

  init(_ bytes: [UInt8], isXML: Bool) {
    self.bytes = bytes
    self.isXML = isXML
  }

  /// The next tag or text; nil at the end, and for a tag that the end cuts.
  mutating func next() -> Token? {
    while offset < bytes.count {
      let start = offset
      if !beginsMarkup(at: offset) {
        repeat { offset += 1 } while offset < bytes.count && !beginsMarkup(at: offset)
        return .text(start..<offset)
      }
      if isNext("<!--") {
        skip(past: "-->", from: offset + 4)
      } else if isXML, isNext("<![CDATA[") {
        skip(past: "]]>", from: offset + 9)
        return .literal(start + 9..<max(start + 9, offset - 3))
      } else if isXML, isNext("<!DOCTYPE") {
        skipDeclaration()
      } else if isNext("<!") || isNext("<?") {
        skip(past: isXML ? "?>" : ">", from: offset + 2)
      } else {
        guard let tag = takeTag() else { return nil }
        if !isXML, !tag.isEnd, Self.rawNames.contains(tag.name) { skipRawText(of: tag.name) }
        return .tag(tag)
      }
    }
    return nil
  }

  /// The elements whose content is text without tags (HTML §13.1.2).
  private static let rawNames: Set<String> = [
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes",
  ]

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte & 0xDF) || byte >= 0x80 || byte == UInt8(ascii: "_")
  }

  /// Whether a tag, a comment or a declaration begins here; a single `<` is text in HTML.
  private func beginsMarkup(at index: Int) -> Bool {
    guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { return false }
    return Self.isLetter(bytes[index + 1]) || "/!?".utf8.contains(bytes[index + 1])
  }

  private func isNext(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    return offset + count <= bytes.count
      && text.withUTF8Buffer { bytes[offset..<offset + count].elementsEqual($0) }
  }

  /// Moves behind the next occurrence of a mark, or to the end.
  private mutating func skip(past mark: StaticString, from start: Int) {
    offset = min(start, bytes.count)
    while offset < bytes.count {
      if isNext(mark) {
        offset += mark.utf8CodeUnitCount
        return
      }
      offset += 1
    }
  }

  /// Moves behind a document type declaration with its internal subset.
  private mutating func skipDeclaration() {
    var (quote, depth) = (nil as UInt8?, 0)
    while offset < bytes.count {
      if quote == nil, isNext("<!--") {
        skip(past: "-->", from: offset + 4)
        continue
      }
      let byte = bytes[offset]
      offset += 1
      switch byte {
      case quote: quote = nil
      case _ where quote != nil: break
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return
      default: break
      }
    }
  }

  private mutating func skipRawText(of name: String) {
    let end = Array("</\(name)".utf8)
    while offset < bytes.count {
      let next = bytes[offset...].prefix(end.count)
      if next.count == end.count, zip(next, end).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 }) { return }
      offset += 1
    }
  }

  /// Reads a tag; ``offset`` is at `<`.
  private mutating func takeTag() -> MarkupTag? {
    offset += 1
    let isEnd = bytes[offset] == UInt8(ascii: "/")
    if isEnd { offset += 1 }
    let name = take { !Self.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    var tag = MarkupTag(name: text(name), isEnd: isEnd)
    while true {
      let gap = take { Self.isSpace($0) || $0 == UInt8(ascii: "/") }
      guard offset < bytes.count else { return nil }
      if bytes[offset] == UInt8(ascii: ">") {
        offset += 1
        tag.isEmpty = isXML && bytes[gap].last == UInt8(ascii: "/")
        return tag
      }
      guard let attribute = takeAttribute() else { return nil }
      tag.attributes.append(attribute)
    }
  }

  private mutating func takeAttribute() -> MarkupTag.Attribute? {
    let start = offset
    // An equals sign at the start is part of the name.
    offset += 1
    _ = take { !Self.isSpace($0) && !"/>=".utf8.contains($0) }
    let name = start..<offset
    _ = take(Self.isSpace)
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
      return MarkupTag.Attribute(name: text(name), value: offset..<offset)
    }
    offset += 1
    _ = take(Self.isSpace)
    guard offset < bytes.count else { return nil }
    let quote = bytes[offset]
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return MarkupTag.Attribute(
        name: text(name),
        value: take { !Self.isSpace($0) && $0 != UInt8(ascii: ">") }
      )
    }
    offset += 1
    let value = take { $0 != quote }
    guard offset < bytes.count else { return nil }
    offset += 1
    return MarkupTag.Attribute(name: text(name), value: value)
  }

  private mutating func take(_ isPart: (UInt8) -> Bool) -> Range<Int> {
    let start = offset
    while offset < bytes.count, isPart(bytes[offset]) { offset += 1 }
    return start..<offset
  }

  /// A name, in lower case in HTML.
  private func text(_ range: Range<Int>) -> String {
    let text = String(decoding: bytes[range], as: UTF8.self)
    return isXML ? text : text.lowercased()
  }
}

/// A start tag or an end tag.
struct MarkupTag {
  struct Attribute {
    /// With its prefix; in lower case in HTML.
    var name: String
    /// The value without quotes, as written.
    var value: Range<Int>
  }

  /// With its prefix; in lower case in HTML.
  var name: String
  var isEnd: Bool
  /// Whether the tag is a whole element, in XML.
  var isEmpty = false
  var attributes: [Attribute] = []
}
