import NIOCore
import NIOHTTP1

/// The limits for each client.
struct ConnectionLimits: Sendable {
  /// The time in which a client must begin its next request, and then complete it.
  var request = TimeAmount.seconds(30)
  /// The time in which a client must take the next chunk of a response.
  var stall = TimeAmount.seconds(30)
  /// The time in which a refused client can read the response.
  var closingTimeout = TimeAmount.seconds(2)
  /// The longest body of a request, in bytes.
  var body = 1 << 20
  /// The longest body of a request to the server behind the gateway, in bytes; clients upload pictures.
  var gatewayBody = 48 << 20
  /// The sum of the bodies of all requests that are under way, in bytes.
  var bodies = 64 << 20
  /// The sum of the target and the fields of a request, in bytes.
  var head = 64 << 10
  /// The number of fields of a request.
  var fieldCount = 128
  /// The number of open connections.
  var connections = 4096
  /// The chunks of a long body, in bytes; malloc reuses blocks of this size (mallopt(3), M_MMAP_THRESHOLD).
  var chunk = 256 << 10
  /// The send buffer of a Unix socket, in bytes.
  ///
  /// The kernel doubles the value for its own needs (socket(7), `SO_SNDBUF`), and grants at most `net.core.wmem_max`.
  /// 200 clients that do not read hold at most 85 MB, a fraction of the same number over TCP.
  static let unixSendBuffer = 208 << 10
}

extension HTTPParserError {
  /// The problem to refuse a request with; it names the limit that the request exceeded.
  func problem(_ limits: ConnectionLimits) -> Problem {
    switch self {
    case .headerOverflow:
      Problem(431, "the fields and the target of a request may have \(limits.head) bytes together")
    case .invalidMethod: Problem(501, "the request begins with an unknown method, or is not HTTP/1.1")
    case .invalidVersion: Problem(505, "this service supports HTTP/1.1 and HTTP/1.0 only")
    case .invalidContentLength: Problem(400, "the length of the body is not a number")
    case .unexpectedContentLength: Problem(400, "the request has more than one length of the body")
    case .invalidHeaderToken: Problem(400, "a field of the request is malformed")
    case .invalidChunkSize: Problem(400, "a chunk of the body is malformed")
    case .invalidURL, .invalidHost, .invalidPort, .invalidPath, .invalidQueryString, .invalidFragment:
      Problem(400, "the target of the request is malformed")
    default: Problem(400, "the request is not HTTP/1.1")
    }
  }
}
