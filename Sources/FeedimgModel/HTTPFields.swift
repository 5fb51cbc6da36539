/// The header fields of a message, in the order in which they came (RFC 9110 §5).
package struct HTTPFields: Sendable, Hashable {
  /// One field line.
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package var fields: [Field]

  package init(_ fields: [Field] = []) { self.fields = fields }

  /// The value of a field, its lines joined by commas (RFC 9110 §5.2); nil where there is none.
  package subscript(name: String) -> String? {
    let wanted = name.lowercased()
    let values = fields.lazy.filter { $0.name.lowercased() == wanted }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}
