import FeedimgModel
import NIOCore
import NIOHTTP1
import NIOWebSocket

extension ConnectionHandler {
  /// Asks the server behind the gateway for a WebSocket, and becomes a relay if it agrees.
  func open(_ upgrade: WebSocketUpgrade, context: ChannelHandlerContext) {
    upgrade.reply(on: context.eventLoop).assumeIsolated().whenComplete { result in
      guard case .responding = self.state.phase else {
        // The client has disconnected.
        if case .success(let reply) = result { reply.channel.close(promise: nil) }
        return
      }
      switch result {
      case .success(let reply) where reply.isAccepted: self.relay(reply, upgrade, context: context)
      case .success(let reply):
        reply.channel.close(promise: nil)
        self.send(Self.refusal(reply), context: context)
      case .failure:
        self.send(Problem(502, "the server ended the handshake of the WebSocket").response, context: context)
      }
    }
  }

  /// What the server says instead of a WebSocket.
  private static func refusal(_ reply: WebSocketReply) -> ServiceResponse {
    let fields = HTTPFields(reply.head.headers.map { HTTPFields.Field(name: $0.name, value: $0.value) })
    var response = ServiceResponse(Int(reply.head.status.code), body: .bytes(reply.body[...]))
    response.fields = fields.forClient
    return response
  }

  private func relay(_ reply: WebSocketReply, _ upgrade: WebSocketUpgrade, context: ChannelHandlerContext) {
    let (client, server) = (context.channel, reply.channel)
    var headers = HTTPHeaders([("Connection", "Upgrade"), ("Upgrade", "websocket")])
    for name in ["Sec-WebSocket-Accept", "Sec-WebSocket-Protocol"] {
      for value in reply.head.headers[name] { headers.add(name: name, value: value) }
    }
    let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    state.phase = .closing
    // A WebSocket has no deadline, and no share in the limit for bodies.
    deadline.cancel()
    body.release()
    do {
      let pipeline = context.pipeline.syncOperations
      pipeline.removeHandler(self, promise: nil)
      pipeline.removeHandler(try pipeline.handler(type: HTTPResponseEncoder.self), promise: nil)
      try pipeline.addHandlers([WebSocketFrameEncoder(), ByteRelay(to: server), RelayEnd(of: server)])
      // The bytes after the request pass on once its decoder is removed.
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      pipeline.removeHandler(decoder, promise: nil)
      try reply.relay(to: client, upgrade.change)
    } catch {
      client.close(promise: nil)
      server.close(promise: nil)
    }
  }
}
