import FeedimgModel

/// A request as nearly all of them are: `GET`, a path of this server, HTTP/1.1, fields, no body, and nothing behind it.
///
/// What is not certainly that is for the decoder, which knows all of HTTP. Telling one costs far less than decoding it.
struct PlainRequest {
  /// Where the target stands among the bytes.
  let target: Range<Int>
  /// Where the lines of the fields stand, with the empty one that ends them.
  let fields: Range<Int>

  /// Reads the request line (RFC 9112 §3); the fields are left to ``fields(_:atMost:)``.
  ///
  /// - Parameter bytes: All that has come and was not read yet.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > Self.method.count, Self.has(Self.method, bytes, at: 0) else { return nil }
    let start = Self.method.count
    guard bytes[start] == UInt8(ascii: "/") else { return nil }
    var end = start
    while end < bytes.count, bytes[end] > 0x20, bytes[end] < 0x7F { end += 1 }
    guard Self.has(Self.version, bytes, at: end) else { return nil }
    target = start..<end
    fields = (end + Self.version.count)..<bytes.count
  }

  /// The fields of a plain request (RFC 9112 §5).
  ///
  /// - Parameters:
  ///   - bytes: Their lines, with the empty one.
  ///   - count: More of them are for the decoder to refuse.
  /// - Returns: Nil where anything else follows, or a field changes how the request, the answer or the connection is to
  ///   be read.
  static func fields(_ bytes: UnsafeRawBufferPointer, atMost count: Int) -> HTTPFields? {
    var fields: [HTTPFields.Field] = []
    var (index, hosts) = (0, 0)
    while index < bytes.count, bytes[index] != 0x0D {
      guard fields.count < count, let (field, next) = field(bytes, at: index) else { return nil }
      let name = field.name.lowercased()
      if name == "host" { hosts += 1 }
      if telling.contains(name) || name == "connection" && field.value.lowercased() != "keep-alive" {
        return nil
      }
      fields.append(field)
      index = next
    }
    guard hosts == 1, index + 2 == bytes.count, has([0x0D, 0x0A], bytes, at: index) else { return nil }
    return HTTPFields(fields)
  }

  /// The line of one field, and where the next one begins; nil where it is not spelled in the plainest way.
  private static func field(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (HTTPFields.Field, next: Int)?
  {
    var index = start
    while index < bytes.count, isOfName(bytes[index]) { index += 1 }
    let name = start..<index
    guard !name.isEmpty, has([UInt8(ascii: ":"), 0x20], bytes, at: index) else { return nil }
    index += 2
    let first = index
    while index < bytes.count, bytes[index] >= 0x20, bytes[index] < 0x7F { index += 1 }
    let value = first..<index
    guard !value.isEmpty, bytes[first] != 0x20, bytes[index - 1] != 0x20, has([0x0D, 0x0A], bytes, at: index)
    else { return nil }
    let field = HTTPFields.Field(
      name: String(decoding: bytes[name], as: UTF8.self),
      value: String(decoding: bytes[value], as: UTF8.self)
    )
    return (field, index + 2)
  }

  private static let method = Array("GET ".utf8)
  private static let version = Array(" HTTP/1.1\r\n".utf8)

  /// The fields that say more than what is asked for; `Proxy-Connection` is an old name of `Connection`.
  private static let telling: Set<String> = [
    "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer", "proxy-connection",
  ]

  private static func has(_ wanted: [UInt8], _ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
    guard index + wanted.count <= bytes.count else { return false }
    return wanted.indices.allSatisfy { bytes[index + $0] == wanted[$0] }
  }

  /// What a token is made of (RFC 9110 §5.6.2), without the marks that no known field has in its name.
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
