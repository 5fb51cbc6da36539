import FeedimgModel
import Glibc

/// The lines of one head, read as they come, with those apart that tell where the body ends.
struct HeadLines {
  private(set) var major = 1
  private(set) var status = 0
  private(set) var fields = HTTPFields()
  private var isBegun = false
  private var lengthLines = Mention()
  private var transferLines = Mention()
  private var codingLines = Mention()

  /// Where a field is among the others.
  private struct Mention {
    var index: Int?
    var isRepeated = false

    mutating func add(_ index: Int) {
      isRepeated = self.index != nil
      self.index = self.index ?? index
    }
  }

  private typealias Bytes = UnsafeRawBufferPointer

  /// Takes a line with its line break.
  ///
  /// - Returns: Whether the line ends the head, as a blank one does.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = Self.trimmed(line)
    guard !text.isEmpty else { return true }
    if !isBegun {
      isBegun = true
      begin(text)
    } else if Self.isSpace(line[0]), let last = fields.fields.indices.last {
      // A folded line continues the field before it.
      fields.fields[last].value += " " + Self.text(text)
    } else {
      add(text)
    }
    return false
  }

  /// The announced length of the body, as it is written.
  var contentLength: String? { value(lengthLines, "content-length") }
  var transferCoding: String? { value(transferLines, "transfer-encoding") }
  var contentCoding: String? { value(codingLines, "content-encoding") }

  private func value(_ mention: Mention, _ name: String) -> String? {
    mention.isRepeated ? fields[name] : mention.index.map { fields.fields[$0].value }
  }

  /// Reads a status line; what is none leaves the status at zero.
  private mutating func begin(_ line: UnsafeRawBufferPointer) {
    let version = line.prefix { $0 != 0x20 }
    let digits = line[version.endIndex...].drop { $0 == 0x20 }.prefix { $0 != 0x20 }
    guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard number >= 100 else { return }
    major = version.starts(with: "HTTP/1".utf8) ? 1 : 2
    status = number
    // As many as servers commonly send.
    fields.fields.reserveCapacity(12)
  }

  private mutating func add(_ line: UnsafeRawBufferPointer) {
    guard let colon = Self.index(of: UInt8(ascii: ":"), in: line) else { return }
    let name = Self.trimmed(Bytes(rebasing: line[..<colon]))
    let value = Self.trimmed(Bytes(rebasing: line[(colon + 1)...]))
    note(name, fields.fields.count)
    fields.fields.append(HTTPFields.Field(name: Self.text(name), value: Self.text(value)))
  }

  private mutating func note(_ name: UnsafeRawBufferPointer, _ index: Int) {
    switch name.count {
    case 14 where Self.equals(name, "content-length"): lengthLines.add(index)
    case 16 where Self.equals(name, "content-encoding"): codingLines.add(index)
    case 17 where Self.equals(name, "transfer-encoding"): transferLines.add(index)
    default: break
    }
  }

  /// Whether a name is the wanted one, which is in lower case and as long.
  private static func equals(_ name: UnsafeRawBufferPointer, _ wanted: StaticString) -> Bool {
    let wanted = Bytes(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount)
    return name.indices.allSatisfy { folded(name[$0]) == wanted[$0] }
  }

  private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  private static func index(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(found) - start
  }

  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var (start, end) = (0, text.count)
    while start < end, isSpace(text[start]) { start += 1 }
    while start < end, isSpace(text[end - 1]) { end -= 1 }
    return Bytes(rebasing: text[start..<end])
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
  }

  /// UTF-8 where it is valid, else Latin-1, as fields were once defined (RFC 9110 §5.5).
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    // Asked first, as nearly all is ASCII, which is read faster.
    if bytes.reduce(0, { $0 | $1 }) < 0x80 { return String(decoding: bytes, as: UTF8.self) }
    return String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
