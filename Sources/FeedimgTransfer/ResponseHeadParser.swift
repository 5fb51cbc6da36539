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
  private var lines = HeadLines()

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
    guard lines.take(line) else { return nil }
    return try end()
  }

  private mutating func end() throws(LoadError) -> Head? {
    defer { lines = HeadLines() }
    guard lines.status != 0 else {
      throw LoadError(.malformed, message: "the answer begins with no valid status line")
    }
    guard lines.status >= 200 else { return nil }
    let isBodiless = lines.status == 204 || lines.status == 304
    let isCodedForTransfer = lines.transferCoding != nil
    let announced = try lines.contentLength.map(Self.announcedLength)
    let coding = lines.contentCoding?.lowercased()
    return Head(
      status: lines.status,
      fields: lines.fields,
      contentLength: isBodiless || isCodedForTransfer ? nil : announced,
      endsByClosing: lines.major == 1 && !isBodiless && !isCodedForTransfer && announced == nil,
      contentCoding: coding == "identity" ? nil : coding
    )
  }

  /// Equal lengths may be repeated; others leave open where the body ends (RFC 9112 §6.3, case 5).
  private static func announcedLength(_ text: String) throws(LoadError) -> Int {
    if let length = length(text) { return length }
    let lengths = text.split(separator: ",").map { length($0.drop { $0 == " " }) }
    guard let length = lengths.first, let length, lengths.allSatisfy({ $0 == length }) else {
      throw LoadError(.malformed, message: "the answer announces the length `\(text)`")
    }
    return length
  }

  private static func length(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}
