import CCurl
import FeedimgModel

/// What libcurl has read of a final response's head, and what that says of the body (RFC 9112 §6.3).
struct ReceivedHead {
  var status: Int
  var fields: HTTPFields
  /// Nil where the length is not announced, or does not count.
  var contentLength: Int?
  var endsByClosing: Bool
  /// In lower case; nil for `identity`.
  var contentCoding: String?

  /// - Parameters:
  ///   - status: The status, at least 200.
  ///   - isHTTP1: Whether the response came over HTTP/1.
  ///   - fields: The fields of the head, in order.
  /// - Throws: ``LoadError`` with `malformed` where the lengths contradict each other.
  init(status: Int, isHTTP1: Bool, fields: HTTPFields) throws(LoadError) {
    self.status = status
    self.fields = fields
    let isBodiless = status == 204 || status == 304
    let isCodedForTransfer = fields["transfer-encoding"] != nil
    let announced = try fields["content-length"].map(Self.announcedLength)
    contentLength = isBodiless || isCodedForTransfer ? nil : announced
    endsByClosing = isHTTP1 && !isBodiless && !isCodedForTransfer && announced == nil
    let coding = fields["content-encoding"]?.lowercased()
    contentCoding = coding == "identity" ? nil : coding
  }

  /// Equal lengths may be repeated; others leave open where the body ends (RFC 9112 §6.3, case 5).
  ///
  /// By hand, as libcurl takes the last one.
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

/// How much may come that is not a body: heads, interim responses and trailers of one response together.
///
/// libcurl limits single lines only, and keeps them all.
struct HeadBudget {
  static let greatestLength = 64 << 10
  static let greatestCount = 256

  private var length = 0
  private var count = 0

  /// Takes a line with its line break.
  ///
  /// - Parameters:
  ///   - line: A line of a head or trailer.
  ///   - isTrailer: Whether it comes after the final head.
  /// - Throws: ``LoadError`` with `malformed` at the limit.
  mutating func take(_ line: UnsafeRawBufferPointer, isTrailer: Bool) throws(LoadError) {
    length += line.count
    if !line.isLineBreak, !line.starts(with: "HTTP/".utf8) { count += 1 }
    guard length > Self.greatestLength || count > Self.greatestCount else { return }
    let part = isTrailer ? "head and the trailer of the answer together are" : "head of the answer is"
    let limit =
      length > Self.greatestLength
      ? "longer than \(ByteCount(Self.greatestLength))" : "longer than \(Self.greatestCount) fields"
    throw LoadError(.malformed, message: "the \(part) \(limit)")
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a line is the empty one that ends a head.
  var isLineBreak: Bool { count <= 2 && (first == 0x0D || first == 0x0A) }
}

extension HTTPFields {
  /// The fields once the content coding has been undone.
  ///
  /// As nginx's gunzip does: fields that describe the coded bytes go, and a strong validator becomes weak, since it
  /// stands for other bytes (RFC 9110 §8.8.1). Ranges would be of the coded bytes as well.
  var withoutContentCoding: HTTPFields {
    let coded = ["content-encoding", "content-length", "accept-ranges", "content-md5", "digest"]
    var result = HTTPFields(fields.filter { field in !coded.contains { field.isNamed($0) } })
    result.fields.append(Field(name: "Accept-Ranges", value: "none"))
    for index in result.fields.indices where result.fields[index].isNamed("etag") {
      if result.fields[index].value.hasPrefix("\"") {
        result.fields[index].value = "W/" + result.fields[index].value
      }
    }
    return result
  }
}
