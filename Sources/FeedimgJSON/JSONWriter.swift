/// Writes JSON as UTF-8 text (RFC 8259), value by value.
package struct JSONWriter: Sendable {
  /// The layout of the text.
  package enum Layout: Sendable {
    /// One line, as in JSON Lines.
    case compact
    /// One member or element per line, indented by two spaces per level.
    case indented
  }

  /// The text so far.
  package private(set) var bytes: [UInt8] = []
  private let layout: Layout
  private var level = 0
  /// Whether the next element or member is the first of the innermost list.
  private var isFirst = true

  package init(_ layout: Layout) { self.layout = layout }

  /// Creates a writer whose text is the members of an object, without braces.
  package init(members object: JSONObject) {
    self.init(.compact)
    members(object)
  }

  package mutating func write(_ value: JSONValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let text): bytes += text.utf8
    case .string(let text): write(text)
    case .array(let elements):
      list("[", "]") { writer in
        for element in elements {
          writer.separate()
          writer.write(element)
        }
      }
    case .object(let object): self.object { $0.members(object) }
    }
  }

  /// Writes an object; the closure writes its members.
  package mutating func object(_ writeMembers: (inout JSONWriter) -> Void) { list("{", "}", writeMembers) }

  /// Writes all members of an object, without its braces.
  package mutating func members(_ object: JSONObject) {
    for member in object.members {
      name(member.name)
      write(member.value)
    }
  }

  /// Copies the text of members, without braces, from another writer.
  package mutating func members(_ other: JSONWriter) {
    guard !other.bytes.isEmpty else { return }
    separate()
    bytes += other.bytes
  }

  /// Writes a member whose value is a string or null.
  package mutating func member(_ name: String, _ text: String?) {
    self.name(name)
    if let text { write(text) } else { write(.null) }
  }

  /// Writes a member whose value is an object; the closure writes that object's members.
  package mutating func member(_ name: String, _ writeMembers: (inout JSONWriter) -> Void) {
    self.name(name)
    object(writeMembers)
  }

  private mutating func name(_ name: String) {
    separate()
    write(name)
    bytes.append(UInt8(ascii: ":"))
    if layout == .indented { bytes.append(UInt8(ascii: " ")) }
  }

  /// Ends a line, as in JSON Lines.
  package mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

  /// Removes the text and keeps its memory.
  package mutating func removeText() { bytes.removeAll(keepingCapacity: true) }

  // MARK: Lists

  private mutating func list(
    _ open: Unicode.Scalar,
    _ close: Unicode.Scalar,
    _ writeElements: (inout JSONWriter) -> Void
  ) {
    bytes.append(UInt8(ascii: open))
    isFirst = true
    level += 1
    writeElements(&self)
    level -= 1
    if !isFirst { indent() }
    bytes.append(UInt8(ascii: close))
    isFirst = false
  }

  /// Writes the comma and indentation before an element or member.
  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    indent()
  }

  private mutating func indent() {
    guard layout == .indented else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes += repeatElement(UInt8(ascii: " "), count: 2 * level)
  }

  // MARK: Strings

  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    let isPlain = text.withUTF8 { utf8 in
      guard utf8.allSatisfy(Self.isPlain) else { return false }
      bytes.append(contentsOf: utf8)
      return true
    }
    if !isPlain { for scalar in text.unicodeScalars { write(scalar) } }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether a byte is a printable ASCII character that needs no escape.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": bytes += "\\\"".utf8
    case "\\": bytes += "\\\\".utf8
    case "\n": bytes += "\\n".utf8
    case "\r": bytes += "\\r".utf8
    case "\t": bytes += "\\t".utf8
    // Terminals interpret some of these as commands; others change the direction of text (UAX #9).
    case "\0"..<" ", "\u{7F}"..<"\u{A0}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}",
      "\u{2066}"..."\u{2069}":
      let digits = String(scalar.value, radix: 16)
      bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
    default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    }
  }
}

extension JSONValue {
  /// The value as JSON text, without a final line feed.
  package func text(_ layout: JSONWriter.Layout) -> String {
    var writer = JSONWriter(layout)
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
