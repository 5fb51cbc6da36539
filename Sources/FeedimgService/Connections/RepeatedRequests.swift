import FeedimgModel
import NIOCore
import NIOHTTP1
import Synchronization

/// Responds to repeated requests for images in memory: neither decodes them nor encodes the head of the response again.
///
/// Programs request the images of a screen again and again, byte for byte. Equal bytes make equal requests, so the service
/// remembers what the decoder made of them, and the head of the response. Each request still gets a
/// new decision. All other input passes to the decoder. The service is correct without this file, which saves nearly half
/// of the processor time of a small image.
///
/// Runs on the event loop of its connection, below the decoder and the encoder.
final class RepeatedRequestHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = IOData

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
      return send(response, to: request, bytes, context: context)
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

  /// Sends the response to a repeated request, and remembers its head.
  ///
  /// The connection sends all responses but whole images by itself.
  private func send(
    _ response: ServiceResponse,
    to request: RepeatableRequest,
    _ bytes: ByteBuffer,
    context: ChannelHandlerContext
  ) {
    guard let head = response.encodedHead ?? newHead(of: response),
      let body = response.data(context.channel.allocator)
    else { return connection.send(response) }
    if response.encodedHead == nil {
      var request = request
      request.request.encodedHead = head
      requests.remember(request, for: bytes)
    }
    let date = connection.date.now()
    context.write(wrapOutboundOut(.byteBuffer(head.bytes(with: response.fields, date))), promise: nil)
    connection.proceed(after: response) { sent in
      context.writeAndFlush(self.wrapOutboundOut(body), promise: sent)
    }
  }

  /// The head of a response with a whole image; nil if its body takes several chunks or a field is not well-formed.
  private func newHead(of response: ServiceResponse) -> EncodedHead? {
    guard let version = response.version, response.length ?? 0 <= connection.limits.chunk,
      response.fields.fields.allSatisfy(\.isWellFormed)
    else { return nil }
    return EncodedHead(connection.head(of: response), version)
  }
}

/// A request that the service has responded to from memory.
struct RepeatableRequest: Sendable {
  /// The rule that allowed the request; a connection with another rule decodes it again.
  let access: AccessRule
  let head: HTTPRequestHead
  var request: ServiceRequest
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
    guard bytes.readableBytes <= Self.maximumLength else { return }
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
