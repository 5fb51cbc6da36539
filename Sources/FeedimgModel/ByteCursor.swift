/// Moves over JSON without making anything of it.
///
/// Every step tells whether it could be done. Where it says no, the cursor may stand anywhere: the caller gives up.
struct ByteCursor {
  let bytes: UnsafeBufferPointer<UInt8>
  var offset: Int

  /// Deeper nesting is not for a scanner.
  private static let greatestDepth = 32

  @inline(__always)
  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  @inline(__always)
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(truncatingIfNeeded: character.value) else { return false }
    offset &+= 1
    return true
  }

  @inline(__always)
  mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D { offset &+= 1 }
  }

  mutating func takeNull() -> Bool { peek == UInt8(ascii: "n") && skipWord("null") }

  /// Moves past any value.
  mutating func skipValue(depth: Int = 0) -> Bool {
    switch peek {
    case UInt8(ascii: "\""): return skipString()
    case UInt8(ascii: "t"): return skipWord("true")
    case UInt8(ascii: "f"): return skipWord("false")
    case UInt8(ascii: "n"): return skipWord("null")
    case UInt8(ascii: "{"): return depth < Self.greatestDepth && skipList("}", isObject: true, depth: depth)
    case UInt8(ascii: "["): return depth < Self.greatestDepth && skipList("]", isObject: false, depth: depth)
    default: return skipNumber()
    }
  }

  private mutating func skipList(_ close: Unicode.Scalar, isObject: Bool, depth: Int) -> Bool {
    offset &+= 1
    skipSpace()
    if take(close) { return true }
    repeat {
      skipSpace()
      if isObject {
        guard skipString() else { return false }
        skipSpace()
        guard take(":") else { return false }
        skipSpace()
      }
      guard skipValue(depth: depth + 1) else { return false }
      skipSpace()
    } while take(",")
    return take(close)
  }

  private mutating func skipWord(_ word: StaticString) -> Bool {
    let span = ScannedItem.Span(start: offset, count: word.utf8CodeUnitCount)
    guard span.range.upperBound <= bytes.count, spells(span, word) else { return false }
    offset &+= span.count
    return true
  }

  // MARK: Numbers

  mutating func skipNumber() -> Bool {
    _ = take("-")
    let isZero = peek == UInt8(ascii: "0")
    let start = offset
    guard skipDigits(), !isZero || offset == start + 1 else { return false }
    if take("."), !skipDigits() { return false }
    guard take("e") || take("E") else { return true }
    if !take("+") { _ = take("-") }
    return skipDigits()
  }

  private mutating func skipDigits() -> Bool {
    let start = offset
    while let byte = peek, byte &- 0x30 < 10 { offset &+= 1 }
    return offset > start
  }

  /// A whole number of up to fifteen digits, where there was none yet.
  mutating func takeCount(_ count: inout Int) -> Bool {
    let start = offset
    guard count < 0, skipDigits(), offset - start <= 15 else { return false }
    guard bytes[start] != UInt8(ascii: "0") || offset == start + 1 else { return false }
    guard peek != UInt8(ascii: "."), peek != UInt8(ascii: "e"), peek != UInt8(ascii: "E") else {
      return false
    }
    count = bytes[start..<offset].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    return true
  }

  // MARK: Strings

  /// Moves to the next byte that is a quote, a backslash, white space, a control character or no ASCII.
  @inline(__always)
  private mutating func skipPlain() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    while offset &+ 8 <= bytes.count, let base = bytes.baseAddress {
      // Eight bytes at a time; what carries over from one byte to the next does so behind the first stop only.
      let word = UInt64(littleEndian: UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self))
      let (quote, slash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
      let stops =
        ((word &- ones &* 0x21) & ~word) | ((word &+ ones) | word) | ((quote &- ones) & ~quote)
        | ((slash &- ones) & ~slash)
      guard stops & tops == 0 else {
        offset &+= (stops & tops).trailingZeroBitCount >> 3
        return
      }
      offset &+= 8
    }
    while let byte = peek, byte > 0x20, byte < 0x7F, byte != 0x22, byte != 0x5C { offset &+= 1 }
  }

  /// Moves past a string of printable ASCII without escapes, and tells what is between its quotes.
  @inline(__always)
  mutating func plainString() -> ScannedItem.Span? {
    guard take("\"") else { return nil }
    let start = offset
    skipPlain()
    while peek == 0x20 {
      offset &+= 1
      skipPlain()
    }
    guard take("\"") else { return nil }
    return ScannedItem.Span(start: start, count: offset &- start &- 1)
  }

  /// Moves past any string.
  mutating func skipString() -> Bool {
    guard take("\"") else { return false }
    let start = offset
    var isASCII = true
    while true {
      skipPlain()
      guard let byte = peek else { return false }
      offset &+= 1
      switch byte {
      case 0x22: return isASCII || isText(start..<offset &- 1)
      case 0x5C: guard skipEscape() else { return false }
      case 0x20, 0x7F: break
      case 0x80...: isASCII = false
      default: return false
      }
    }
  }

  private func isText(_ range: Range<Int>) -> Bool { String(validating: bytes[range], as: UTF8.self) != nil }

  private mutating func skipEscape() -> Bool {
    guard let byte = peek else { return false }
    offset &+= 1
    guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
    guard offset &+ 4 <= bytes.count else { return false }
    let isCode = bytes[offset..<offset &+ 4].allSatisfy { Self.isHexadecimal($0) }
    offset &+= 4
    return isCode
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
  }
}

// MARK: - What a span says

extension ByteCursor {
  @inline(__always)
  func spells(_ span: ScannedItem.Span, _ word: StaticString) -> Bool {
    guard span.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<span.count where bytes[span.start &+ index] != word.utf8Start[index] { return false }
    return true
  }

  func isSame(_ span: ScannedItem.Span, _ other: ScannedItem.Span) -> Bool {
    guard span.count == other.count else { return false }
    for index in 0..<span.count where bytes[span.start &+ index] != bytes[other.start &+ index] {
      return false
    }
    return true
  }

  func isColor(_ span: ScannedItem.Span) -> Bool {
    span.count == 7 && bytes[span.start] == UInt8(ascii: "#")
      && bytes[span.range].dropFirst().allSatisfy { Self.isHexadecimal($0) }
  }

  /// Whether a plain string is a URL that an image may be fetched from, of another machine, and its own cache key.
  func isCanonicalURL(_ span: ScannedItem.Span) -> Bool {
    guard span.count > 8, span.count <= ImageURL.greatestLength else { return false }
    let end = span.range.upperBound
    var place = span.start
    let isSecure = spells(ScannedItem.Span(start: place, count: 8), "https://")
    guard isSecure || spells(ScannedItem.Span(start: place, count: 7), "http://") else { return false }
    place &+= isSecure ? 8 : 7
    let host = place
    while place < end, Self.isHostByte(bytes[place]) { place &+= 1 }
    guard place > host, place < end, !isLocal(host..<place) else { return false }
    if bytes[place] == UInt8(ascii: ":") {
      place &+= 1
      let start = place
      while place < end, bytes[place] &- 0x30 < 10 { place &+= 1 }
      guard place > start, place - start <= 5, place < end, bytes[start] != 0x30 else { return false }
      let port = bytes[start..<place].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
      guard port <= 65_535, port != (isSecure ? 443 : 80) else { return false }
    }
    guard bytes[place] == UInt8(ascii: "/") else { return false }
    while place < end {
      guard bytes[place] != UInt8(ascii: "#"), bytes[place] != 0x20 else { return false }
      place &+= 1
    }
    return true
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    byte &- UInt8(ascii: "a") < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "-")
  }

  /// Whether the host may be this machine by its spelling, which is decided about in another way.
  private func isLocal(_ host: Range<Int>) -> Bool {
    let end = ScannedItem.Span(start: max(host.lowerBound, host.upperBound - 9), count: min(host.count, 9))
    return spells(ScannedItem.Span(start: host.lowerBound, count: min(host.count, 4)), "127.")
      || spells(end, "localhost")
  }
}
