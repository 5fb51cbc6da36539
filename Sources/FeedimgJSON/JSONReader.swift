/// Reads JSON values one after another from UTF-8 bytes (RFC 8259).
///
/// Foundation's decoder tells no position of a fault on Linux and loses the order of members; a person who
/// mends a file needs the first, and a file that is written back the second.
package struct JSONReader {
  /// What is wrong nearer than this to the end of a text may be right once more of it is there: a literal, or the
  /// digits of an escape.
  package static let greatestWord = 5

  /// Deeper nesting is refused, so that hostile input cannot exhaust the stack.
  static let greatestDepth = 512

  package let bytes: UnsafeBufferPointer<UInt8>
  /// Where the cursor stands.
  package var offset = 0

  /// A reader of bytes that stay where they are for as long as it reads.
  package init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// All values of a text: none, one, or several separated by white space, as in JSON lines.
  ///
  /// - Throws: ``JSONError`` with the place of the first fault.
  package static func values(in text: some Collection<UInt8>) throws(JSONError) -> [JSONValue] {
    try read(text) { reader throws(JSONError) in
      var values: [JSONValue] = []
      while reader.skipWhiteSpace() { values.append(try reader.value()) }
      return values
    }
  }

  /// The one value of a text.
  ///
  /// - Throws: ``JSONError`` with the place of the first fault, also where there is no value or a second one.
  package static func value(in text: some Collection<UInt8>) throws(JSONError) -> JSONValue {
    try read(text) { reader throws(JSONError) in
      guard reader.skipWhiteSpace() else { throw reader.fault("expected a JSON value") }
      let value = try reader.value()
      guard !reader.skipWhiteSpace() else { throw reader.fault("expected the end of the text") }
      return value
    }
  }

  private static func read<Answer>(
    _ text: some Collection<UInt8>,
    _ body: (inout JSONReader) throws(JSONError) -> Answer
  ) throws(JSONError) -> Answer {
    func run(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<Answer, JSONError> {
      var reader = JSONReader(bytes: bytes)
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.offset = 3 }
      do throws(JSONError) { return .success(try body(&reader)) } catch { return .failure(error) }
    }
    let answer = text.withContiguousStorageIfAvailable(run) ?? Array(text).withUnsafeBufferPointer(run)
    return try answer.get()
  }

  // MARK: Grammar

  /// Reads one value; the cursor stands on its first byte.
  ///
  /// - Throws: ``JSONError``; the cursor then stands where the text could not go on.
  package mutating func value() throws(JSONError) -> JSONValue { try value(depth: 0) }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    guard depth < Self.greatestDepth else { throw fault("nested more than \(Self.greatestDepth) deep") }
    switch peek {
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"): return try number()
    case _ where isDigit: return try number()
    default: throw unexpected("a JSON value")
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
    var object = JSONObject()
    offset += 1
    skipWhiteSpace()
    if take("}") { return object }
    while true {
      skipWhiteSpace()
      guard peek == UInt8(ascii: "\"") else { throw unexpected("a member name in quotes") }
      let name = try string()
      skipWhiteSpace()
      guard take(":") else { throw unexpected("`:` after the name") }
      skipWhiteSpace()
      object.append(name, try value(depth: depth))
      skipWhiteSpace()
      if take("}") { return object }
      guard take(",") else { throw unexpected("`,` or `}`") }
    }
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    var elements: [JSONValue] = []
    offset += 1
    skipWhiteSpace()
    if take("]") { return elements }
    while true {
      skipWhiteSpace()
      elements.append(try value(depth: depth))
      skipWhiteSpace()
      if take("]") { return elements }
      guard take(",") else { throw unexpected("`,` or `]`") }
    }
  }

  private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    let count = word.utf8CodeUnitCount
    let matches =
      offset + count <= bytes.count
      && word.withUTF8Buffer { bytes[offset..<offset + count].elementsEqual($0) }
    guard matches else { throw unexpected("`\(word)`") }
    offset += count
    return value
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = offset
    take("-")
    if take("0") {
      if isDigit { throw fault("a number has no leading zero") }
    } else {
      try digits()
    }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { take("-") }
      try digits()
    }
    return .number(String(decoding: bytes[start..<offset], as: UTF8.self))
  }

  private mutating func digits() throws(JSONError) {
    guard isDigit else { throw unexpected("a digit") }
    while isDigit { offset += 1 }
  }
}

// MARK: - The cursor

extension JSONReader {
  var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private var isDigit: Bool { peek.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false }

  /// Moves past that character, if it stands here.
  @discardableResult package mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  /// Moves past white space; false at the end of the text.
  @discardableResult package mutating func skipWhiteSpace() -> Bool {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return true
      }
    }
    return false
  }

  /// That something else was expected where the cursor stands.
  package func unexpected(_ expected: String) -> JSONError {
    guard let byte = peek else { return fault("expected \(expected), but the text ends here") }
    let found =
      (0x21..<0x7F).contains(byte) ? "`\(Unicode.Scalar(byte))`" : "byte 0x\(String(byte, radix: 16))"
    return fault("expected \(expected), found \(found)")
  }

  /// A fault at a place, or where the cursor stands.
  package func fault(_ message: String, at place: Int? = nil) -> JSONError {
    let offset = place ?? offset
    let before = bytes.prefix(offset)
    let line = before.count { $0 == 0x0A } + 1
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return JSONError(line: line, column: offset - lineStart + 1, message: message)
  }
}
