/// An element of an entry with everything in it.
final class XMLNode {
  let name: String
  let isMedia: Bool
  let attributes: [String: String]
  /// The URL to which relative URLs in the element refer, if known.
  let base: String?
  var children: [XMLNode] = []
  /// The text outside child elements, in UTF-8.
  var bytes: [UInt8] = []

  init(_ element: MarkupElement, base: String?) {
    name = element.name
    // Some feeds do not declare the prefix, and others misspell the namespace.
    isMedia = element.prefix == "media" || element.namespace?.contains("search.yahoo.com/mrss") == true
    attributes = element.attributes
    self.base = base
  }

  /// The memory of the element without its content, roughly, in bytes.
  var length: Int {
    attributes.reduce(256 + (base?.utf8.count ?? 0)) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The first child with a name, outside Media RSS.
  func child(_ name: String) -> XMLNode? { children.first { $0.name == name && !$0.isMedia } }

  func number(_ name: String) -> Int? { attributes[name]?.nonBlank.flatMap { Int($0) }?.positive }
}
