import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// What a WebSocket received.
enum WebSocketEvent: Hashable, Sendable {
  case text(String)
  case binary(Int)
  case ping(String)
  case pong(String)
  case close(Int)
  /// The connection ended.
  case end

  fileprivate init(_ frame: WebSocketFrame) {
    var data = frame.unmaskedData
    let text = String(buffer: data)
    self =
      switch frame.opcode {
      case .ping: .ping(text)
      case .pong: .pong(text)
      case .binary: .binary(data.readableBytes)
      case .connectionClose:
        .close(data.readWebSocketErrorCode().map { Int(UInt16(webSocketErrorCode: $0)) } ?? 0)
      default: .text(text)
      }
  }
}

/// A server of WebSockets that replies to each text as a test says.
final class WebSocketServer: Sendable {
  /// The frames that a text is replied with; nil cuts the connection.
  typealias Reply = @Sendable (String) -> [WebSocketFrame]?

  let port: Int
  /// The heads of all requests.
  let requests: AsyncStream<HTTPRequestHead>
  private let channel: any Channel

  init(_ reply: @escaping Reply) throws {
    let (requests, continuation) = AsyncStream.makeStream(of: HTTPRequestHead.self)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: 1 << 20,
      shouldUpgrade: { channel, head in
        continuation.yield(head)
        let selected = head.headers["Sec-WebSocket-Protocol"].map { ("Sec-WebSocket-Protocol", $0) }
        return channel.eventLoop.makeSucceededFuture(HTTPHeaders(selected))
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Replies(reply))
        }
      }
    )
    channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in })
        )
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    (self.requests, port) = (requests, channel.localAddress?.port ?? 0)
  }

  deinit { channel.close(promise: nil) }

  private final class Replies: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    let reply: Reply

    init(_ reply: @escaping Reply) { self.reply = reply }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let frame = unwrapInboundIn(data)
      guard frame.opcode == .text else { return }
      guard let frames = reply(String(buffer: frame.unmaskedData)) else { return context.close(promise: nil) }
      for frame in frames { context.writeAndFlush(wrapOutboundOut(frame), promise: nil) }
    }
  }
}

/// A client of WebSockets.
final class WebSocketClient: Sendable {
  let events: AsyncStream<WebSocketEvent>
  private let channel: any Channel

  /// - Parameters:
  ///   - port: The port of the server on this machine.
  ///   - target: The target of the request.
  ///   - fields: More fields of the request.
  /// - Throws: An error of SwiftNIO if there is no WebSocket.
  init(port: Int, _ target: String, _ fields: [(String, String)] = []) async throws {
    let (events, continuation) = AsyncStream.makeStream(of: WebSocketEvent.self)
    let ready = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
    let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: 16 << 20) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(Receiver(continuation))
        ready.succeed()
      }
    }
    let headers = HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Content-Length", "0")] + fields)
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: headers)
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.pipeline.addHTTPClientHandlers(
          withClientUpgrade: (upgraders: [upgrader], completionHandler: { _ in })
        )
      }
      .connect(host: "127.0.0.1", port: port).get()
    self.events = events
    channel.closeFuture.whenComplete { _ in
      ready.fail(ChannelError.eof)
      continuation.yield(.end)
      continuation.finish()
    }
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    try await ready.futureResult.get()
  }

  deinit { channel.close(promise: nil) }

  func send(_ text: String, _ opcode: WebSocketOpcode = .text) {
    let data = channel.allocator.buffer(string: text)
    channel.writeAndFlush(
      WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data),
      promise: nil
    )
  }

  private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    let continuation: AsyncStream<WebSocketEvent>.Continuation

    init(_ continuation: AsyncStream<WebSocketEvent>.Continuation) { self.continuation = continuation }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      continuation.yield(WebSocketEvent(unwrapInboundIn(data)))
    }
  }
}
