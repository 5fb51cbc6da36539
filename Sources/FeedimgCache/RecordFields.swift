import Glibc

/// Builds a text of fields parted by tabs; tabs, line ends and backslashes within them are escaped by a backslash.
struct RecordFields {
  static let tab = UInt8(ascii: "\t")
  private static let backslash = UInt8(ascii: "\\")
  private static let escapes: [(raw: UInt8, letter: UInt8)] = [
    (tab, UInt8(ascii: "t")), (UInt8(ascii: "\n"), UInt8(ascii: "n")), (backslash, backslash),
  ]

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte == tab || byte == UInt8(ascii: "\n") || byte == backslash
  }

  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  /// - Parameter capacity: What is likely to be needed, in bytes.
  init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  private mutating func part() {
    if !isFirst { bytes.append(Self.tab) }
    isFirst = false
  }

  mutating func append(_ byte: UInt8) {
    part()
    bytes.append(byte)
  }

  mutating func append(_ text: String) {
    part()
    var text = text
    text.withUTF8 { text in
      guard text.contains(where: Self.isEscaped) else { return bytes.append(contentsOf: text) }
      for byte in text {
        if let escape = Self.escapes.first(where: { $0.raw == byte }) {
          bytes += [Self.backslash, escape.letter]
        } else {
          bytes.append(byte)
        }
      }
    }
  }

  /// Appends fields that are joined and escaped already.
  mutating func append(raw fields: [UInt8]) {
    part()
    bytes += fields
  }

  /// All of it behind its checksum, as the first field.
  var sealed: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 17 + bytes.count) { buffer, count in
      Checksum.of(bytes).writeHexadecimal { digit in
        buffer.initializeElement(at: count, to: digit)
        count += 1
      }
      buffer.initializeElement(at: count, to: Self.tab)
      count = buffer[(count + 1)...].initialize(fromContentsOf: bytes)
    }
  }

  /// Reads such a text field by field.
  struct Reader {
    /// What has not been read yet; nil after the last field.
    private var remaining: UnsafeRawBufferPointer?

    init(_ bytes: UnsafeRawBufferPointer) { remaining = bytes }

    var rest: UnsafeRawBufferPointer { remaining ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    /// The next field as it stands; nil after the last.
    mutating func next() -> UnsafeRawBufferPointer? {
      guard let bytes = remaining else { return nil }
      guard let start = bytes.baseAddress, let end = memchr(start, Int32(RecordFields.tab), bytes.count)
      else {
        remaining = nil
        return bytes
      }
      let length = UnsafeRawPointer(end) - start
      remaining = UnsafeRawBufferPointer(rebasing: bytes[(length + 1)...])
      return UnsafeRawBufferPointer(rebasing: bytes[..<length])
    }

    /// Whether the next field is this text; nil after the last.
    mutating func nextIs(_ text: String) -> Bool? {
      guard let field = next() else { return nil }
      guard !field.contains(RecordFields.backslash) else { return RecordFields.unescaped(field) == text }
      var text = text
      return text.withUTF8 { text in
        guard let wanted = text.baseAddress, let found = field.baseAddress else {
          return text.count == field.count
        }
        return text.count == field.count && memcmp(found, wanted, text.count) == 0
      }
    }

    mutating func nextInteger() -> Int? { next().flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

    mutating func nextText() -> String? { next().map { RecordFields.unescaped($0) } }
  }

  private static func unescaped(_ field: UnsafeRawBufferPointer) -> String {
    guard field.contains(backslash) else { return String(decoding: field, as: UTF8.self) }
    var bytes: [UInt8] = []
    var isEscaped = false
    for byte in field {
      if isEscaped {
        bytes.append(escapes.first { $0.letter == byte }?.raw ?? byte)
        isEscaped = false
      } else if byte == backslash {
        isEscaped = true
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
