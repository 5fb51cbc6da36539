extension JSONReader {
  /// Reads a string; the cursor stands on the opening quote.
  mutating func string() throws(JSONError) -> String {
    offset += 1
    let start = offset
    while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      offset += 1
    }
    if peek == UInt8(ascii: "\"") {
      defer { offset += 1 }
      return try text(bytes[start..<offset], at: start)
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
        buffer.append(byte)
        offset += 1
      }
    }
    throw fault("the string is not closed", at: start - 1)
  }

  private func text(_ content: some Collection<UInt8>, at start: Int) throws(JSONError) -> String {
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
    // Text cut off amid an emoji leaves a lone half behind; that is no reason to lose the rest (RFC 8259 §8.2).
    let scalar =
      Unicode.Scalar(code) ?? trail(of: code).map { UTF16.decode(UTF16.EncodedScalar([code, $0])) }
      ?? "\u{FFFD}"
    buffer.append(contentsOf: String(scalar).utf8)
  }

  /// Moves past the second half of a surrogate pair, where the first is one and the second follows.
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
