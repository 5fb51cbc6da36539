/// Reads JSON values one after another from UTF-8 bytes (RFC 8259).
///
/// On Linux, Foundation's decoder does not report the position of an error, which people need to correct a
/// file. It also loses the order of members, which feedimg keeps when it writes a file again.
package struct JSONReader {
  /// The length of the longest literal or escape; an error this close to the end may vanish with more bytes.
  static let maximumWord = 5

  /// The deepest nesting; without a limit, malicious input could exhaust the stack.
  static let maximumDepth = 512

  let bytes: UnsafeBufferPointer<UInt8>
  /// The offset of the next byte to read.
  var offset = 0

  /// - Parameter bytes: The text; it must outlive the reader.
  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// All values of a text: none, one, or several separated by white space, as in JSON lines.
  ///
  /// - Throws: ``JSONError`` with the position of the first error.
  package static func values(in text: some Collection<UInt8>) throws(JSONError) -> [JSONValue] {
    try read(text) { reader throws(JSONError) in
      var values: [JSONValue] = []
      while reader.skipWhiteSpace() { values.append(try reader.value()) }
      return values
    }
  }

  /// The value of a text that holds exactly one value.
  ///
  /// - Throws: ``JSONError`` with the position of the first error.
  package static func value(in text: some Collection<UInt8>) throws(JSONError) -> JSONValue {
    try readOne(text) { reader throws(JSONError) in try reader.value() }
  }

  /// Reads a text that holds exactly one value.
  static func readOne<Value>(
    _ text: some Collection<UInt8>,
    _ body: (inout JSONReader) throws(JSONError) -> Value
  ) throws(JSONError) -> Value {
    try read(text) { reader throws(JSONError) in
      guard reader.skipWhiteSpace() else { throw reader.fault("expected a JSON value") }
      let value = try body(&reader)
      guard !reader.skipWhiteSpace() else { throw reader.fault("expected the end of the text") }
      return value
    }
  }

  private static func read<Result>(
    _ text: some Collection<UInt8>,
    _ body: (inout JSONReader) throws(JSONError) -> Result
  ) throws(JSONError) -> Result {
    try Array(text).withUnsafeBufferPointer { bytes throws(JSONError) in
      var reader = JSONReader(bytes: bytes)
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.offset = 3 }
      return try body(&reader)
    }
  }
}

// MARK: - Grammar

extension JSONReader {
  /// Reads one value, which starts at ``offset``.
  ///
  /// - Throws: ``JSONError``; ``offset`` is then the position of the error.
  mutating func value(depth: Int = 0) throws(JSONError) -> JSONValue {
    guard depth < Self.maximumDepth else { throw fault("nested more than \(Self.maximumDepth) deep") }
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
    try list(until: "}", orElse: "`,` or `}`") { reader throws(JSONError) in
      let name = try reader.name()
      object.append(name, try reader.value(depth: depth))
    }
    return object
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
    var elements: [JSONValue] = []
    try list(until: "]", orElse: "`,` or `]`") { reader throws(JSONError) in
      elements.append(try reader.value(depth: depth))
    }
    return elements
  }

  /// Reads one value with the places of all values in it.
  mutating func node(depth: Int) throws(JSONError) -> JSONNode {
    guard depth < Self.maximumDepth else { throw fault("nested more than \(Self.maximumDepth) deep") }
    let start = offset
    let content: JSONNode.Content
    switch peek {
    case UInt8(ascii: "{"):
      var members: [JSONNode.Member] = []
      try list(until: "}", orElse: "`,` or `}`") { reader throws(JSONError) in
        let name = try reader.name()
        members.append(JSONNode.Member(name: name, value: try reader.node(depth: depth + 1)))
      }
      content = .object(members)
    case UInt8(ascii: "["):
      var elements: [JSONNode] = []
      try list(until: "]", orElse: "`,` or `]`") { reader throws(JSONError) in
        elements.append(try reader.node(depth: depth + 1))
      }
      content = .array(elements)
    case UInt8(ascii: "\""): content = .string(try string())
    default:
      _ = try value()
      content = .other
    }
    return JSONNode(content: content, range: start..<offset)
  }

  /// Reads an array or an object; ``offset`` is at the opening bracket.
  ///
  /// - Parameters:
  ///   - close: The closing bracket.
  ///   - expected: The characters that may follow an element, for messages.
  ///   - read: Reads one element.
  /// - Throws: ``JSONError`` for an invalid element or separator.
  @inline(__always)
  private mutating func list(
    until close: Unicode.Scalar,
    orElse expected: StaticString,
    _ read: (inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    offset += 1
    skipWhiteSpace()
    if take(close) { return }
    while true {
      try read(&self)
      skipWhiteSpace()
      if take(close) { return }
      guard take(",") else { throw unexpected("\(expected)") }
      skipWhiteSpace()
    }
  }

  /// Reads the name of a member and its colon.
  @inline(__always)
  private mutating func name() throws(JSONError) -> String {
    guard peek == UInt8(ascii: "\"") else { throw unexpected("a member name in quotes") }
    let name = try string()
    skipWhiteSpace()
    guard take(":") else { throw unexpected("`:` after the name") }
    skipWhiteSpace()
    return name
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
      if isDigit { throw fault("a number must not have a leading zero") }
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

// MARK: - Strings

extension JSONReader {
  /// Reads a string; ``offset`` is at the opening quote.
  private mutating func string() throws(JSONError) -> String {
    offset += 1
    let start = offset
    skipPlain()
    if peek == UInt8(ascii: "\"") {
      defer { offset += 1 }
      return try text(UnsafeBufferPointer(rebasing: bytes[start..<offset]), at: start)
    }
    var buffer = Array(bytes[start..<offset])
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return try text(buffer, at: start)
      case UInt8(ascii: "\\"):
        offset += 1
        try escape(into: &buffer)
      case 0..<0x20:
        throw fault("a control character in a string must be escaped")
      default:
        let start = offset
        skipPlain()
        buffer += bytes[start..<offset]
      }
    }
    throw fault("the string is not closed", at: start - 1)
  }

  /// Moves to the next quote, backslash or control character.
  private mutating func skipPlain() {
    while offset < bytes.count, bytes[offset] >= 0x20, bytes[offset] != UInt8(ascii: "\""),
      bytes[offset] != UInt8(ascii: "\\")
    {
      offset += 1
    }
  }

  private func text(_ content: some Collection<UInt8>, at start: Int) throws(JSONError) -> String {
    // The standard library validates slowly, but decodes ASCII fast.
    if content.allSatisfy({ $0 < 0x80 }) { return String(decoding: content, as: UTF8.self) }
    guard let text = String(validating: content, as: UTF8.self) else {
      throw fault("a string is not valid UTF-8", at: start)
    }
    return text
  }

  private mutating func escape(into buffer: inout [UInt8]) throws(JSONError) {
    guard let byte = peek else { throw unexpected("an escape") }
    let simple: UInt8? =
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
      case UInt8(ascii: "b"): 0x08
      case UInt8(ascii: "f"): 0x0C
      case UInt8(ascii: "n"): 0x0A
      case UInt8(ascii: "r"): 0x0D
      case UInt8(ascii: "t"): 0x09
      default: nil
      }
    if let simple {
      buffer.append(simple)
      offset += 1
      return
    }
    guard byte == UInt8(ascii: "u") else { throw unexpected("an escape such as `\\n` or `\\u00e4`") }
    offset += 1
    let code = try fourHexDigits()
    // A program that shortens a text may leave half of a surrogate pair (RFC 8259 §8.2). It becomes U+FFFD,
    // so that the rest of the text stays readable.
    let scalar =
      Unicode.Scalar(code) ?? trail(of: code).map { UTF16.decode(UTF16.EncodedScalar([code, $0])) }
      ?? "\u{FFFD}"
    buffer.append(contentsOf: String(scalar).utf8)
  }

  /// Reads the second half of a surrogate pair; nil, without moving, if either half is missing.
  private mutating func trail(of lead: UInt16) -> UInt16? {
    guard UTF16.isLeadSurrogate(lead), bytes[offset...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
    else { return nil }
    var ahead = self
    ahead.offset += 2
    guard let trail = try? ahead.fourHexDigits(), UTF16.isTrailSurrogate(trail) else { return nil }
    self = ahead
    return trail
  }

  private mutating func fourHexDigits() throws(JSONError) -> UInt16 {
    guard offset + 4 <= bytes.count,
      let code = UInt16(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16),
      bytes[offset] != UInt8(ascii: "+"), bytes[offset] != UInt8(ascii: "-")
    else { throw unexpected("four hexadecimal digits") }
    offset += 4
    return code
  }
}

// MARK: - Bytes

extension JSONReader {
  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private var isDigit: Bool { offset < bytes.count && bytes[offset] &- UInt8(ascii: "0") < 10 }

  /// Moves past a character if it is next.
  @discardableResult mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  /// Moves past white space; false at the end of the text.
  @discardableResult mutating func skipWhiteSpace() -> Bool {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return true
      }
    }
    return false
  }

  /// The error for an unexpected byte or the end of the text.
  func unexpected(_ expected: String) -> JSONError {
    guard let byte = peek else { return fault("expected \(expected), but the text ends here") }
    let found =
      (0x21..<0x7F).contains(byte) ? "`\(Unicode.Scalar(byte))`" : "byte 0x\(String(byte, radix: 16))"
    return fault("expected \(expected), found \(found)")
  }

  /// An error at an offset, by default the current one.
  func fault(_ message: String, at place: Int? = nil) -> JSONError {
    let (line, column) = Self.place(of: place ?? offset, in: bytes)
    return JSONError(line: line, column: column, message: message)
  }

  /// The line and the column of an offset, counted from one.
  static func place(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> (line: Int, column: Int) {
    let before = bytes.prefix(offset)
    var line = 1
    for byte in before { line &+= byte == 0x0A ? 1 : 0 }
    return (line, offset - (before.lastIndex(of: 0x0A) ?? -1))
  }
}
