import FeedimgModel
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// The upgrade of a client's connection to a WebSocket of the server behind a gateway (RFC 6455).
///
/// The client's own handshake passes to the server, so that the client checks the server's reply itself.
struct WebSocketUpgrade: Sendable {
  /// The connected socket, which leads to the server.
  let descriptor: Int32
  /// The target and the fields of the request for the server.
  let target: String
  let fields: HTTPFields
  /// Changes a message of the server; nil to keep it.
  let change: @Sendable ([UInt8]) -> [UInt8]?

  /// The longest message of a server, in bytes; a longer one ends the connection with the status 1009.
  static let longestMessage = 8 << 20
  /// The time limit for the reply of the server.
  private static let replyTimeout = TimeAmount.seconds(60)

  /// Closes the socket of an upgrade that does not take place.
  func abandon() { close(descriptor) }

  /// Sends the request to the server, and waits for its reply, on the event loop of the client's connection.
  func reply(on loop: any EventLoop) -> EventLoopFuture<WebSocketReply> {
    let promise = loop.makePromise(of: WebSocketReply.self)
    let headers = HTTPHeaders(fields.fields.map { ($0.name, $0.value) })
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: headers)
    let timeout = loop.scheduleTask(in: Self.replyTimeout) {
      promise.fail(ChannelError.connectTimeout(Self.replyTimeout))
    }
    promise.futureResult.whenComplete { _ in timeout.cancel() }
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(DeferredEnd())
          try pipeline.addHandler(HTTPRequestEncoder())
          try pipeline.addHandler(
            ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
          )
          try pipeline.addHandler(ReplyHandler(promise))
        }
      }
      .withConnectedSocket(descriptor)
      .whenComplete { result in
        switch result {
        case .success(let channel):
          channel.write(HTTPClientRequestPart.head(head), promise: nil)
          channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
          promise.futureResult.whenFailure { _ in channel.close(promise: nil) }
        case .failure(let error): promise.fail(error)
        }
      }
    return promise.futureResult
  }
}

/// The reply of a server to an upgrade.
struct WebSocketReply: Sendable {
  let channel: any Channel
  let head: HTTPResponseHead
  let body: [UInt8]

  var isAccepted: Bool { head.status == .switchingProtocols }

  /// Makes the connection to the server one of frames; `change` returns nil to keep a message.
  func relay(to client: any Channel, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) throws {
    let pipeline = channel.pipeline.syncOperations
    let decoder = WebSocketFrameDecoder(maxFrameSize: WebSocketUpgrade.longestMessage)
    let replies = try pipeline.handler(type: ReplyHandler.self)
    pipeline.removeHandler(replies, promise: nil)
    let aggregator = NIOWebSocketFrameAggregator(
      minNonFinalFragmentSize: 0,
      maxAccumulatedFrameCount: 1 << 16,
      maxAccumulatedFrameSize: WebSocketUpgrade.longestMessage
    )
    try pipeline.addHandlers([
      ByteToMessageHandler(decoder), aggregator, MessageRelay(to: client, change), RelayEnd(of: client),
    ])
    // The bytes after the reply pass on once its decoder is removed.
    pipeline.removeHandler(try pipeline.handler(type: HTTPRequestEncoder.self), promise: nil)
    pipeline.removeHandler(
      try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self),
      promise: nil
    )
  }
}

/// Reports the end of a connection after the tasks that wait.
///
/// A decoder of SwiftNIO leaves its pipeline in such a task, and drops its bytes if the connection ends before.
private final class DeferredEnd: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelInactive(context: ChannelHandlerContext) {
    context.eventLoop.assumeIsolated().execute {
      context.fireChannelReadComplete()
      context.fireChannelInactive()
    }
  }
}

/// Waits for the reply of a server.
private final class ReplyHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart

  /// The most bytes of a refusal to pass on.
  private static let longestBody = 64 << 10

  private let promise: EventLoopPromise<WebSocketReply>
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []

  init(_ promise: EventLoopPromise<WebSocketReply>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let bytes):
      body += bytes.readableBytesView.prefix(Self.longestBody - body.count)
      if body.count == Self.longestBody { settle(context) }
    case .end: settle(context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    settle(context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }

  private func settle(_ context: ChannelHandlerContext) {
    guard let head else { return promise.fail(ChannelError.eof) }
    promise.succeed(WebSocketReply(channel: context.channel, head: head, body: body))
  }
}

/// Passes the whole messages of a server to the client, with the addresses of the gateway.
private final class MessageRelay: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame

  private let client: any Channel
  private let change: @Sendable ([UInt8]) -> [UInt8]?

  init(to client: any Channel, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
    (self.client, self.change) = (client, change)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    guard frame.opcode == .text, let text = change(Array(frame.unmaskedData.readableBytesView)) else {
      return client.write(frame, promise: nil)
    }
    let changed = client.allocator.buffer(bytes: text)
    client.write(WebSocketFrame(fin: true, opcode: .text, data: changed), promise: nil)
  }

  func channelReadComplete(context: ChannelHandlerContext) { client.flush() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isTooLong =
      error as? NIOWebSocketError == .invalidFrameLength
      || error as? NIOWebSocketFrameAggregator.Error == .accumulatedFrameSizeIsTooLarge
    guard isTooLong else { return context.fireErrorCaught(error) }
    var data = client.allocator.buffer(capacity: 2)
    data.write(webSocketErrorCode: .messageTooLarge)
    client.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: data), promise: nil)
    context.close(promise: nil)
  }
}

/// Passes the bytes of a client to the server.
final class ByteRelay: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let server: any Channel

  init(to server: any Channel) { self.server = server }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    server.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }
}

/// Ends one side of a relay with the other, and lets each read only as fast as the other takes.
final class RelayEnd: ChannelInboundHandler {
  typealias InboundIn = Never

  private let other: any Channel

  init(of other: any Channel) { self.other = other }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    // Both have the same event loop. The option has no other failure than a closed channel.
    try? other.syncOptions?.setOption(.autoRead, value: context.channel.isWritable)
  }

  func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed, is ChannelShouldQuiesceEvent: context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
