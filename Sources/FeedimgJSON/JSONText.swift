/// A value within a JSON document that is read only where it is needed.
///
/// A reader of a long document keeps one element of a list in memory at a time.
package struct JSONText {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let range: Range<Int>

  /// Reads a document that holds exactly one value.
  ///
  /// - Parameters:
  ///   - text: The document in UTF-8.
  ///   - body: Receives the value, which is valid only during the call.
  /// - Throws: ``JSONError`` with the position of the first error, before `body` is called, or its error.
  package static func read(
    _ text: [UInt8],
    _ body: (JSONText) throws(JSONError) -> Void
  ) throws(JSONError) {
    let range = try JSONReader.readOne(text) { reader throws(JSONError) in
      let start = reader.offset
      try reader.skipValue()
      return start..<reader.offset
    }
    try text.withUnsafeBufferPointer { bytes throws(JSONError) in
      try body(JSONText(bytes: bytes, range: range))
    }
  }

  /// In bytes.
  package var length: Int { range.count }

  package var isArray: Bool { bytes[range.lowerBound] == UInt8(ascii: "[") }

  package var isObject: Bool { bytes[range.lowerBound] == UInt8(ascii: "{") }

  /// The value in memory.
  package func value() throws(JSONError) -> JSONValue {
    var reader = reader
    return try reader.value()
  }

  /// The value of a member; nil for other values than objects, and for null.
  package func member(_ name: String) throws(JSONError) -> JSONText? {
    guard isObject else { return nil }
    var (reader, found) = (reader, nil as JSONText?)
    try reader.forEachMember { other, range in
      if other == name { found = JSONText(bytes: bytes, range: range) }
    }
    guard let found, bytes[found.range.lowerBound] != UInt8(ascii: "n") else { return nil }
    return found
  }

  /// Calls a closure with each element of an array; not at all for other values.
  package func forEachElement(_ body: (JSONText) throws(JSONError) -> Void) throws(JSONError) {
    guard isArray else { return }
    var reader = reader
    try reader.forEachElement { range throws(JSONError) in try body(JSONText(bytes: bytes, range: range)) }
  }

  private var reader: JSONReader {
    var reader = JSONReader(bytes: bytes)
    reader.offset = range.lowerBound
    return reader
  }
}
