/// Where one member of an object stands in a text, in offsets of bytes.
struct JSONSpan: Hashable {
  /// Behind the brace or comma before the member.
  var lead: Int
  /// With the quotes.
  var name: Range<Int>
  var value: Range<Int>

  /// The members of the outermost object, in order, of bytes that are a valid one.
  static func members(of bytes: [UInt8]) -> [JSONSpan] {
    var spans: [JSONSpan] = []
    var depth = 0
    var lead = 0
    var name: Range<Int>?
    var valueStart: Int?
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        let end = endOfString(in: bytes, from: index)
        if depth == 1, name == nil { name = index..<end }
        index = end
        continue
      case UInt8(ascii: ":") where depth == 1:
        valueStart = firstIndex(in: bytes, from: index + 1)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 1 { lead = index + 1 }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { close(at: index) }
      case UInt8(ascii: ",") where depth == 1:
        close(at: index)
        lead = index + 1
      default:
        break
      }
      index += 1
    }
    return spans

    func close(at end: Int) {
      guard let found = name, let start = valueStart else { return }
      var last = end
      while last > start, isWhiteSpace(bytes[last - 1]) { last -= 1 }
      spans.append(JSONSpan(lead: lead, name: found, value: start..<last))
      (name, valueStart) = (nil, nil)
    }
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private static func firstIndex(in bytes: [UInt8], from start: Int) -> Int {
    bytes[start...].firstIndex { !isWhiteSpace($0) } ?? bytes.count
  }

  /// Behind the closing quote of the string that opens at `start`.
  private static func endOfString(in bytes: [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }
}
