import LoopbackServer
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Testing

/// The WebSocket of the Mastodon gateway, between a real client and a real server.
@Suite(.timeLimit(.minutes(5))) struct GatewayWebSocketTests {
  private static let picture = "https://x.example/a.png"
  private static let status =
    #"{"media_attachments":[{"type":"image","url":"\#(picture)","preview_url":null}]}"#
  /// An event, which has its status as text.
  private static let update = #"{"stream":["user"],"event":"update","payload":"\#(escaped(status))"}"#

  private static func escaped(_ text: String) -> String { text.replacing(#"""#, with: #"\""#) }

  private static func frame(
    _ text: some StringProtocol,
    _ opcode: WebSocketOpcode = .text,
    isLast: Bool = true
  ) -> WebSocketFrame {
    WebSocketFrame(fin: isLast, opcode: opcode, data: ByteBuffer(string: String(text)))
  }

  /// What the server sends for a text of the client.
  @Sendable private static func reply(to text: String) -> [WebSocketFrame]? {
    switch text {
    case "update": [frame(update)]
    case "fragments":
      [
        frame(update.prefix(40), isLast: false), frame("", .ping),
        frame(update.dropFirst(40).prefix(40), .continuation, isLast: false),
        frame(update.dropFirst(80), .continuation),
      ]
    case "bytes": [frame(String(repeating: "x", count: 70_000), .binary)]
    case "delete": [frame(#"{"stream":["user"],"event":"delete","payload":"12"}"#)]
    case "ping": [frame("are you there", .ping)]
    case "long": [frame(String(repeating: "x", count: 9 << 20))]
    case "many":
      [frame(String(repeating: "x", count: 5 << 20), isLast: false)]
        + [frame(String(repeating: "x", count: 5 << 20), .continuation)]
    case "close":
      [WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer(bytes: [0x0F, 0xA1]))]
    case "cut": nil
    default: [frame(text)]
    }
  }

  struct Row: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sent: String
    let expected: [WebSocketEvent]
    init(_ name: String, _ sent: String, _ expected: [WebSocketEvent]) {
      (testDescription, self.sent, self.expected) = (name, sent, expected)
    }
  }

  @Test(arguments: [
    Row("an event has the addresses of the gateway", "update", [.text("UPDATE")]),
    Row(
      "fragments become one message; a ping passes between them",
      "fragments",
      [.ping(""), .text("UPDATE")]
    ),
    Row("bytes pass", "bytes", [.binary(70_000)]),
    Row(
      "an event without a picture passes",
      "delete",
      [.text(#"{"stream":["user"],"event":"delete","payload":"12"}"#)]
    ),
    Row("a subscription reaches the server", #"{"type":"subscribe"}"#, [.text(#"{"type":"subscribe"}"#)]),
    Row("a ping of the server reaches the client", "ping", [.ping("are you there")]),
    Row("a frame that is too long ends the connection", "long", [.close(1009), .end]),
    Row("a message of many frames that is too long ends the connection", "many", [.close(1009), .end]),
    Row("the status of the server's end reaches the client", "close", [.close(4001)]),
    Row("the connection ends with the server's", "cut", [.end]),
  ])
  func `messages pass between client and server`(_ row: Row) async throws {
    let server = try WebSocketServer(Self.reply)
    let gateway = try GatewayRun("mastodon=http://127.0.0.1:\(server.port)")
    let client = try await WebSocketClient(
      port: Int(try #require(gateway.service.port)),
      "/api/v1/streaming?stream=user"
    )
    client.send(row.sent)
    var events = client.events.makeAsyncIterator()
    for expected in row.expected {
      let event = try #require(await events.next())
      guard case .text("UPDATE") = expected, case .text(let text) = event else {
        #expect(event == expected)
        continue
      }
      #expect(text.contains(#"\"url\":\"\#(gateway.base)/g/s/"#) && !text.contains(Self.picture))
    }
  }

  @Test func `the handshake of the client passes to the server, without extensions`() async throws {
    let server = try WebSocketServer(Self.reply)
    let gateway = try GatewayRun("mastodon=http://127.0.0.1:\(server.port)")
    let client = try await WebSocketClient(
      port: Int(try #require(gateway.service.port)),
      "/api/v1/streaming?stream=user",
      [
        ("Sec-WebSocket-Protocol", "secret"), ("Authorization", "Bearer secret"),
        ("Sec-WebSocket-Extensions", "permessage-deflate"),
      ]
    )
    var requests = server.requests.makeAsyncIterator()
    let head = try #require(await requests.next())
    #expect(head.uri == "/api/v1/streaming?stream=user")
    #expect(head.headers["Host"] == ["127.0.0.1:\(server.port)"])
    #expect(head.headers["Sec-WebSocket-Protocol"] == ["secret"])
    #expect(head.headers["Authorization"] == ["Bearer secret"])
    #expect(head.headers["Sec-WebSocket-Extensions"] == [])
    withExtendedLifetime(client) {}
  }

  private static let upgrade = [
    "-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13",
    "-H", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "--http1.1",
  ]

  @Test func `the refusal of the server reaches the client`() throws {
    let server = try LoopbackServer { request in
      request.path.contains("cut")
        ? .hangUp : .response(401, [("Content-Type", "text/plain")], body: Array("no token".utf8))
    }
    let gateway = try GatewayRun("mastodon=\(server.url(""))")
    let refused = try CurlResponse(of: try gateway.run("/api/v1/streaming", Self.upgrade))
    #expect((refused.status, refused.text) == (401, "no token"))
    let cut = try CurlResponse(of: try gateway.run("/api/v1/streaming/cut", Self.upgrade))
    #expect((cut.status, cut["Content-Type"]) == (502, "application/problem+json"))
  }

  @Test func `messages pass that arrive with the handshake and the end`() throws {
    let fields = [("Connection", "Upgrade"), ("Upgrade", "websocket")]
    let frames = [0x81, 2] + Array("hi".utf8) + [0x88, 2, 0x03, 0xE8]
    let server = try LoopbackServer { _ in Reply([.send(Reply.head(101, fields) + frames)]) }
    let gateway = try GatewayRun("mastodon=\(server.url(""))")
    let client = try RawClient(port: try #require(gateway.service.port))
    client.get("/api/v1/streaming", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    #expect(client.head().hasPrefix("HTTP/1.1 101 "))
    #expect(client.take(100) == frames)
  }

  @Test func `a server that is down is a problem`() throws {
    let gateway = try GatewayRun("mastodon=http://127.0.0.1:1")
    let response = try CurlResponse(of: try gateway.run("/api/v1/streaming", Self.upgrade))
    #expect((response.status, response["Content-Type"]) == (502, "application/problem+json"))
  }
}
