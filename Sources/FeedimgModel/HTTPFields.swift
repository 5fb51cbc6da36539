/// The header fields of a message, in the order of their arrival (RFC 9110 §5).
package struct HTTPFields: Sendable, Hashable {
  /// One field line.
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// Whether the field has a name, ignoring case.
    package func isNamed(_ wanted: String) -> Bool {
      guard name.utf8.count == wanted.utf8.count else { return false }
      if name == wanted { return true }
      return zip(name.utf8, wanted.utf8).allSatisfy { Self.folded($0) == Self.folded($1) }
    }

    private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
  }

  package var fields: [Field]

  package init(_ fields: [Field] = []) { self.fields = fields }

  /// The value of a field, with its lines joined by commas (RFC 9110 §5.2); nil if absent.
  package subscript(name: String) -> String? {
    guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else { return nil }
    var value = fields[first].value
    for field in fields[(first + 1)...] where field.isNamed(name) { value += ", " + field.value }
    return value
  }
}

extension HTTPFields.Field {
  /// Whether a request field holds credentials, which only the server that they are meant for may get.
  package var isCredential: Bool {
    isNamed("authorization") || isNamed("cookie") || isNamed("proxy-authorization")
  }

  /// Whether name and value are valid (RFC 9110 §5.1, §5.5).
  package var isWellFormed: Bool { hasTokenName && Self.isValue(value) }

  /// The field in a form that is safe to send: control characters become spaces.
  ///
  /// Nil if the name is not a token (RFC 9110 §5.6.2).
  package var wellFormed: HTTPFields.Field? {
    hasTokenName ? HTTPFields.Field(name: name, value: Self.value(value)) : nil
  }

  /// A text as a valid value: control characters become spaces (RFC 9110 §5.5).
  package static func value(_ text: String) -> String {
    guard !isValue(text) else { return text }
    let bytes = text.utf8.map { isOfValue($0) ? $0 : UInt8(ascii: " ") }
    return String(decoding: bytes, as: UTF8.self)
  }

  private var hasTokenName: Bool {
    var name = name
    return !name.isEmpty && name.withUTF8 { $0.allSatisfy(Self.isOfToken) }
  }

  private static func isValue(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { $0.allSatisfy(isOfValue) }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: marks.contains(byte)
    }
  }

  private static let marks = Array("!#$%&'*+.^_`|~".utf8)

  private static func isOfValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }
}
