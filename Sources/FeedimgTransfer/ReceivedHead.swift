import CCurl
import FeedimgModel

/// The head of a final response, and the framing of the body that follows it (RFC 9112 §6.3).
struct ReceivedHead {
  var status: Int
  var fields: HTTPFields
  /// Nil if the response has no `Content-Length`, or if it does not apply.
  var contentLength: Int?
  /// Whether only the end of the connection ends the body.
  var endsByClosing: Bool
  /// The content coding in lower case; nil for `identity`.
  var contentCoding: String?

  /// - Throws: ``LoadError`` with `malformed` if `Content-Length` is invalid or has different values.
  init(status: Int, isHTTP1: Bool, fields: HTTPFields) throws(LoadError) {
    self.status = status
    self.fields = fields
    let isBodiless = status == 204 || status == 304
    let hasTransferCoding = fields["transfer-encoding"] != nil
    let announced = try fields["content-length"].map(Self.announcedLength)
    contentLength = isBodiless || hasTransferCoding ? nil : announced
    endsByClosing = isHTTP1 && !isBodiless && !hasTransferCoding && announced == nil
    let coding = fields["content-encoding"]?.lowercased()
    contentCoding = coding == "identity" ? nil : coding
  }

  /// Reads `Content-Length`, in which only equal values may repeat (RFC 9112 §6.3, case 5).
  ///
  /// libcurl would use the last value without comparing them.
  private static func announcedLength(_ text: String) throws(LoadError) -> Int {
    if let length = length(text) { return length }
    let lengths = text.split(separator: ",").map { length($0.drop { $0 == " " }) }
    guard let length = lengths.first, let length, lengths.allSatisfy({ $0 == length }) else {
      throw LoadError(.malformed, message: "the response has an invalid Content-Length `\(text)`")
    }
    return length
  }

  private static func length(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}

/// The limit for the heads, interim responses and trailers of one response together.
///
/// libcurl stores all header lines in memory, but limits only the length of each line.
struct HeadBudget {
  static let maximumLength = 64 << 10
  static let maximumCount = 256

  private var length = 0
  private var count = 0

  /// Counts a line with its line break.
  ///
  /// - Throws: ``LoadError`` with `malformed` if the response exceeds the limit.
  mutating func take(_ line: UnsafeRawBufferPointer, isTrailer: Bool) throws(LoadError) {
    length += line.count
    if !line.isLineBreak, !line.starts(with: "HTTP/".utf8) { count += 1 }
    guard length > Self.maximumLength || count > Self.maximumCount else { return }
    let part = isTrailer ? "header and trailer together exceed" : "header exceeds"
    let limit =
      length > Self.maximumLength ? "\(ByteCount(Self.maximumLength))" : "\(Self.maximumCount) fields"
    throw LoadError(.malformed, message: "the response \(part) the limit of \(limit)")
  }
}

extension UnsafeRawBufferPointer {
  /// Whether this is the empty line that ends a head.
  var isLineBreak: Bool { count <= 2 && (first == 0x0D || first == 0x0A) }
}

extension HTTPFields {
  /// The fields that describe the decoded body.
  ///
  /// Fields that describe the encoded bytes are removed, ranges included. A strong entity tag becomes weak,
  /// because it identifies the encoded bytes (RFC 9110 §8.8.1). nginx's gunzip does the same.
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
