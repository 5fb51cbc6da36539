import FeedimgModel

/// Reads the heads of answers, line by line as libcurl delivers them (RFC 9112 §4 and §5).
///
/// libcurl has checked the shape of the lines, and writes a status line for HTTP/2 too. Interim answers (1xx) are
/// passed over.
struct ResponseHeadParser {
  /// A head without the place it came from.
  struct Head: Hashable {
    var status: Int
    var fields: HTTPFields
    /// Nil where the length is not announced, or does not count (RFC 9112 §6.3).
    var contentLength: Int?
    var endsByClosing: Bool
    var contentCoding: String?
  }

  /// More is no head of an honest server; libcurl limits single lines only.
  ///
  /// In bytes, over all heads that answer one request.
  static let greatestLength = 64 << 10

  private var length = 0
  private var major = 1
  private var status: Int?
  private var fields = HTTPFields()

  /// Takes one line with its line break.
  ///
  /// - Returns: The head when the line ends that of the final answer, otherwise nil.
  /// - Throws: ``LoadError`` with `malformed` when the head is too long or contradicts itself.
  mutating func take(_ line: UnsafeRawBufferPointer) throws(LoadError) -> Head? {
    length += line.count
    guard length <= Self.greatestLength else {
      let limit = ByteCount(Self.greatestLength)
      throw LoadError(.malformed, message: "the head of the answer is longer than \(limit)")
    }
    let text = Self.trimmed(line[...])
    guard !text.isEmpty else { return try end() }
    if status == nil {
      try begin(text)
    } else {
      add(text, folded: line.first == 0x20 || line.first == 0x09)
    }
    return nil
  }

  private mutating func begin(_ line: Slice<UnsafeRawBufferPointer>) throws(LoadError) {
    let parts = line.split(separator: 0x20, maxSplits: 2)
    guard parts.count >= 2, let number = Int(Self.text(parts[1])), (100...999).contains(number) else {
      throw LoadError(.malformed, message: "the answer begins with no valid status line")
    }
    major = Self.text(parts[0]).hasPrefix("HTTP/1") ? 1 : 2
    status = number
    fields = HTTPFields()
  }

  private mutating func add(_ line: Slice<UnsafeRawBufferPointer>, folded: Bool) {
    if folded, let last = fields.fields.indices.last {
      fields.fields[last].value += " " + Self.text(line)
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let name = Self.trimmed(line[line.startIndex..<colon])
      let value = Self.trimmed(line[line.index(after: colon)...])
      fields.fields.append(HTTPFields.Field(name: Self.text(name), value: Self.text(value)))
    }
  }

  private mutating func end() throws(LoadError) -> Head? {
    guard let status, status >= 200 else {
      self.status = nil
      return nil
    }
    let isBodiless = status == 204 || status == 304
    let isCodedForTransfer = fields["transfer-encoding"] != nil
    let announced = try announcedLength()
    let coding = fields["content-encoding"]?.lowercased()
    let head = Head(
      status: status,
      fields: fields,
      contentLength: isBodiless || isCodedForTransfer ? nil : announced,
      endsByClosing: major == 1 && !isBodiless && !isCodedForTransfer && announced == nil,
      contentCoding: coding == "identity" ? nil : coding
    )
    self.status = nil
    return head
  }

  /// Equal lengths may be repeated; others leave open where the body ends (RFC 9112 §6.3, case 5).
  private func announcedLength() throws(LoadError) -> Int? {
    guard let text = fields["content-length"] else { return nil }
    if let length = Self.length(text) { return length }
    let lengths = text.split(separator: ",").map { Self.length($0.drop { $0 == " " }) }
    guard let length = lengths.first, let length, lengths.allSatisfy({ $0 == length }) else {
      throw LoadError(.malformed, message: "the answer announces the length `\(text)`")
    }
    return length
  }

  private static func length(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
    let start = text.drop(while: isSpace)
    guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start.prefix(0) }
    return start[...last]
  }

  /// UTF-8 where it is valid, else Latin-1, as fields were once defined (RFC 9110 §5.5).
  private static func text(_ slice: Slice<UnsafeRawBufferPointer>) -> String {
    let bytes = UnsafeRawBufferPointer(rebasing: slice)
    guard !bytes.allSatisfy({ $0 < 0x80 }) else { return String(decoding: bytes, as: UTF8.self) }
    return String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
