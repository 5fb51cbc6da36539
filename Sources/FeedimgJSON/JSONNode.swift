/// A JSON value with its place in the text, so that a program can change parts of the text and keep the rest.
package struct JSONNode: Sendable {
  /// A name and its value.
  package struct Member: Sendable {
    package var name: String
    package var value: JSONNode
  }

  package enum Content: Sendable {
    case object([Member])
    case array([JSONNode])
    case string(String)
    /// A number, a boolean or null.
    case other
  }

  package var content: Content
  /// The bytes of the value; for a string, with its quotes.
  package var range: Range<Int>

  /// Reads a text that holds exactly one value.
  ///
  /// - Throws: ``JSONError`` with the position of the first error.
  package static func read(_ text: some Collection<UInt8>) throws(JSONError) -> JSONNode {
    try JSONReader.readOne(text) { reader throws(JSONError) in try reader.node(depth: 0) }
  }

  /// The value of a name; if a name is repeated, the last value, as in most JSON readers.
  package subscript(name: String) -> JSONNode? {
    guard case .object(let members) = content else { return nil }
    return members.last { $0.name == name }?.value
  }

  /// The string without quotes; nil for other values.
  package var text: String? {
    guard case .string(let text) = content else { return nil }
    return text
  }

  /// The elements of an array; none for other values.
  package var elements: [JSONNode] {
    guard case .array(let elements) = content else { return [] }
    return elements
  }
}
