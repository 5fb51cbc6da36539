import CXML

/// A text that was decoded from a part of a document, with the place of each byte in the document.
struct PlacedText {
  private(set) var bytes: [UInt8] = []
  /// The bytes of the document from which each byte was decoded.
  private var places: [Range<UInt32>] = []

  init() {}

  /// A part of a document as it is.
  init(_ document: [UInt8], _ range: Range<Int>) {
    bytes = Array(document[range])
    places = range.map { UInt32($0)..<UInt32($0 + 1) }
  }

  /// A part of a text.
  init(_ text: PlacedText, _ range: Range<Int>) {
    bytes = Array(text.bytes[range])
    places = Array(text.places[range])
  }

  static func += (text: inout PlacedText, other: PlacedText) {
    text.bytes += other.bytes
    text.places += other.places
  }

  /// The place of a part in the document; nil if it is empty, or if the document has markup inside it.
  func place(of range: Range<Int>) -> Range<Int>? {
    guard let first = places[range].first else { return nil }
    var last = first
    for place in places[range] {
      guard place == last || place.lowerBound == last.upperBound else { return nil }
      last = place
    }
    return Int(first.lowerBound)..<Int(last.upperBound)
  }

  /// The range without white space and control characters at its ends.
  var trimmedRange: Range<Int> {
    let start = bytes.firstIndex { $0 > 0x20 } ?? bytes.count
    let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? start
    return start..<end
  }
}

extension PlacedText {
  /// The text with the characters to which its references refer, in XML and HTML.
  ///
  /// Unknown references stay as they are.
  func decodingReferences() -> PlacedText {
    guard bytes.contains(UInt8(ascii: "&")) else { return self }
    return decoding(from: UInt8(ascii: "&")) { index in
      // The longest name of HTML 4 has 8 letters.
      let end = bytes[index...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
      guard let end, let scalar = Self.scalar(bytes[(index + 1)..<end]) else { return nil }
      return (scalar, end + 1)
    }
  }

  /// The text with the characters of its escapes in a JSON string.
  func decodingEscapes() -> PlacedText {
    decoding(from: UInt8(ascii: "\\")) { index in
      guard index + 1 < bytes.count else { return nil }
      let simple: [UInt8: Unicode.Scalar] = [
        0x62: "\u{8}", 0x66: "\u{C}", 0x6E: "\n", 0x72: "\r", 0x74: "\t", 0x22: "\"", 0x5C: "\\", 0x2F: "/",
      ]
      if let scalar = simple[bytes[index + 1]] { return (scalar, index + 2) }
      guard let lead = unit(at: index) else { return nil }
      if UTF16.isLeadSurrogate(lead), let trail = unit(at: index + 6), UTF16.isTrailSurrogate(trail) {
        return (UTF16.decode(UTF16.EncodedScalar([lead, trail])), index + 12)
      }
      return (Unicode.Scalar(lead) ?? "\u{FFFD}", index + 6)
    }
  }

  /// Decodes the characters that begin with a mark; the closure gets the index of the mark.
  ///
  /// It returns the character and the index after it, or nil to keep the byte.
  private func decoding(
    from mark: UInt8,
    _ decode: (Int) -> (scalar: Unicode.Scalar, end: Int)?
  ) -> PlacedText {
    var (result, index) = (PlacedText(), 0)
    result.bytes.reserveCapacity(bytes.count)
    result.places.reserveCapacity(bytes.count)
    while index < bytes.count {
      if bytes[index] == mark, let (scalar, end) = decode(index) {
        let place = places[index].lowerBound..<places[end - 1].upperBound
        for byte in String(scalar).utf8 {
          result.bytes.append(byte)
          result.places.append(place)
        }
        index = end
      } else {
        result.bytes.append(bytes[index])
        result.places.append(places[index])
        index += 1
      }
    }
    return result
  }

  /// The code unit of an escape such as `\u00e4`.
  private func unit(at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
    else { return nil }
    return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
  }

  /// The character of a reference without `&` and `;`.
  private static func scalar(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
    let text = String(decoding: name, as: UTF8.self)
    if text.hasPrefix("#") {
      let isHexadecimal = text.hasPrefix("#x") || text.hasPrefix("#X")
      let digits = text.dropFirst(isHexadecimal ? 2 : 1)
      return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }
    if text == "apos" { return "'" }
    let found = text.withCString { name in
      name.withMemoryRebound(to: UInt8.self, capacity: text.utf8.count + 1) {
        cxml_open()?.pointee.htmlEntityLookup($0)
      }
    }
    return found.flatMap { Unicode.Scalar($0.pointee.value) }
  }
}
