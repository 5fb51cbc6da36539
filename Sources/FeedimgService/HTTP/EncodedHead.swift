import FeedimgModel
import NIOCore
import NIOHTTP1

/// The head of a response without the fields that differ each time.
struct EncodedHead: Sendable {
  /// What the head depends on, besides the request.
  struct Version: Sendable, Hashable {
    var role: ImageVariant.Role
    var policy: String
    var rule: Int
    var mediaType: String
    var checksum: UInt64
  }

  private static let passing = ["Date", "Cache-Status", "Server-Timing"]

  let version: Version
  private let lines: ByteBuffer

  init(_ head: HTTPResponseHead, _ version: Version) {
    self.version = version
    let lines = head.headers.filter { !Self.passing.contains($0.name) }.map { "\($0.name): \($0.value)\r\n" }
    let status = head.status
    self.lines = ByteBuffer(string: "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n" + lines.joined())
  }

  /// The head with the passing fields of a response.
  func bytes(with fields: HTTPFields, _ date: String) -> ByteBuffer {
    var bytes = lines
    bytes.writeString("Date: \(date)\r\n")
    for field in fields.fields where Self.passing.contains(field.name) {
      bytes.writeString("\(field.name): \(field.value)\r\n")
    }
    bytes.writeStaticString("\r\n")
    return bytes
  }
}
