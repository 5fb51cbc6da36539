import FeedimgModel
import NIOCore
import NIOHTTP1
import Synchronization

/// Responds to repeated requests for images in memory without decoding them again.
///
/// Programs request the images of a screen again and again, byte for byte. Equal bytes make equal requests, so the
/// service remembers what the decoder made of them. Each request still gets a new decision. All other input passes to
/// the decoder. The service is correct without this file, which only saves processor time for small images.
///
/// Runs on the event loop of its connection, below the decoder.
final class RepeatedRequestHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: ConnectionHandler
  private let requests: RepeatedRequests
  /// Whether the decoder has no part of a request: its last input ended as the head of a request does.
  private var isBetweenRequests = true

  init(for connection: ConnectionHandler, _ requests: RepeatedRequests) {
    (self.connection, self.requests) = (connection, requests)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    let isFirst = isBetweenRequests && connection.isIdle
    if isFirst, let request = requests[bytes], let response = connection.response(to: request) {
      return connection.send(response)
    }
    isBetweenRequests = bytes.readableBytesView.suffix(4).elementsEqual("\r\n\r\n".utf8)
    // A pipelined request may have begun between two inputs.
    _ = connection.takeRepeatable()
    context.fireChannelRead(data)
    // The bytes are one whole request, and nothing else.
    if let request = connection.takeRepeatable(), isFirst, isBetweenRequests {
      requests.remember(request, for: bytes)
    }
  }
}

/// A request that the service has responded to from memory.
struct RepeatableRequest: Sendable {
  /// The rule that allowed the request; a connection with another rule decodes it again.
  let access: AccessRule
  let head: HTTPRequestHead
  var request: ServiceRequest
}

/// The requests that begin in one input.
///
/// The input is repeatable if it is a single request and memory has its response.
struct InputRequests {
  private var count = 0
  private var repeatable: RepeatableRequest?

  /// Counts a request whose head has arrived.
  mutating func begin() { (count, repeatable) = (count + 1, nil) }

  /// Keeps the latest request, because memory had its response.
  mutating func keep(_ request: RepeatableRequest) { repeatable = request }

  /// The only request since the last call, if memory had its response.
  mutating func take() -> RepeatableRequest? {
    defer { self = InputRequests() }
    return count == 1 ? repeatable : nil
  }
}

/// The repeatable requests of all connections.
final class RepeatedRequests: Sendable {
  /// The number of requests to keep, which exceeds the images of a screen.
  private static let maximumCount = 512
  /// The longest request to keep, in bytes.
  private static let maximumLength = 2048

  private let requests = Mutex<[ByteBuffer: RepeatableRequest]>([:])

  /// The request with these bytes.
  subscript(bytes: ByteBuffer) -> RepeatableRequest? { requests.withLock { $0[bytes] } }

  /// Keeps a request with its item.
  func remember(_ request: RepeatableRequest, for bytes: ByteBuffer) {
    // Programs give each load a name of its own.
    guard bytes.readableBytes <= Self.maximumLength, request.request.fields["Feedimg-Load"] == nil else {
      return
    }
    var request = request
    request.request.item = try? request.request.target.item
    // The buffer of the channel is reused for the next input.
    let key = ByteBuffer(bytes: bytes.readableBytesView)
    requests.withLock { requests in
      if requests.count >= Self.maximumCount { requests.removeAll() }
      requests[key] = request
    }
  }
}
