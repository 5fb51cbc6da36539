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
