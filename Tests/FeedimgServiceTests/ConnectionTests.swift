import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import FeedimgService

/// Clients that misbehave, on a clock that the test moves.
@Suite struct ConnectionTests {
  private let channel = EmbeddedChannel()

  private func connect(_ access: AccessRule = .sameUser, bodyLimit: Int = 100) throws {
    let routes = RouteTable(
      [
        ("GET", "/", { _ in ServiceResponse(json: "{}") }),
        ("GET", "/odd", { _ in ServiceResponse(fields: [("X-A", "a\u{1}b")]) }),
      ],
      // Responds at once, without a thread that the test would have to wait for.
      immediate: [
        "/": { _ in ServiceResponse(json: "{}") },
        "/odd": { _ in ServiceResponse(fields: [("X-A", "a\u{1}b")]) },
      ],
      metrics: ServiceMetrics()
    )
    let register = ConnectionRegister(limit: 10, bodyLimit: bodyLimit)
    var limits = ConnectionLimits()
    limits.body = 10
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
      withPipeliningAssistance: false,
      withErrorHandling: false
    )
    try channel.pipeline.syncOperations.addHandler(
      ConnectionHandler(routes: routes, access: access, limits: limits, register: register)
    )
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
  }

  private func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

  /// All responses so far.
  private func response() throws -> String {
    // The event loop completes immediate responses.
    channel.embeddedEventLoop.run()
    var text = ""
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text
  }

  private func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

  @Test func `an idle connection is closed after a while`() throws {
    try connect()
    pass(29)
    #expect(channel.isActive)
    pass(1)
    #expect(!channel.isActive)
    #expect(try response() == "")
  }

  @Test func `fields that trickle in do not keep a connection open`() throws {
    try connect()
    try send("GET / HTTP/1.1\r\nHost: x\r\n")
    for number in 0..<29 {
      pass(1)
      try send("X-\(number): y\r\n")
    }
    #expect(channel.isActive)
    pass(1)
    #expect(!channel.isActive)
  }

  @Test func `a body that trickles in is refused`() throws {
    try connect()
    try send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
    for _ in 0..<6 {
      pass(5)
      if channel.isActive { try send("x") }
    }
    let response = try response()
    #expect(response.hasPrefix("HTTP/1.1 408 "))
    #expect(response.lowercased().contains("connection: close"))
    // Time to read the response, and then the end.
    pass(2)
    #expect(!channel.isActive)
  }

  @Test(arguments: [
    ("GET /\r\n\r\n", 505, "no version, as in HTTP/0.9"),
    ("\u{0}\u{1}\r\n\r\n", 501, "not text"),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, "a length that is not a number"),
    (
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
      "two lengths"
    ),
    (
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501,
      "an unknown transfer coding (RFC 9112 §6.1)"
    ),
    ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505, "an unsupported version"),
    ("GET / HTTP/1.1\r\n\r\n", 400, "no host"),
    ("GET / HTTP/1.1\r\nHost: a b@c/\r\n\r\n", 400, "an invalid host (RFC 9112 §3.2)"),
    ("GET / HTTP/1.0\r\nHost: a@b\r\n\r\n", 400, "the same from an older client"),
    ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "two hosts"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "b", count: 100_000))", 431, "an endless field"),
    ("GET /\(String(repeating: "b", count: 100_000))", 431, "an endless target"),
    (
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", 413,
      "a body whose announced length is too long"
    ),
    (
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n", 413,
      "a body that has become too long"
    ),
  ]) func `malformed and oversized requests are refused with an explanation`(
    _ text: String,
    _ status: Int,
    _ reason: String
  ) throws {
    try connect()
    // The decoder's error was handled, and the channel must not report it.
    try? send(text)
    let response = try response()
    #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(reason)")
    #expect(response.contains("application/problem+json"))
    #expect(response.lowercased().contains("connection: close"))
    pass(2)
    #expect(!channel.isActive)
  }

  @Test func `a HEAD request is refused without a body`() throws {
    try connect(.otherUser(1001))
    try send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try response().hasSuffix("\r\n\r\n"))
  }

  @Test func `another user is refused before the request is read`() throws {
    try connect(.otherUser(1001))
    try send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try response().hasPrefix("HTTP/1.1 403 "))
  }

  @Test func `a client that sends Expect gets 100 Continue`() throws {
    try connect()
    try send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
    #expect(try response().hasPrefix("HTTP/1.1 100 "))
  }

  @Test func `all request bodies together have a limit`() throws {
    try connect(bodyLimit: 8)
    try send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabcdefghi")
    #expect(try response().hasPrefix("HTTP/1.1 503 "))
  }

  @Test func `an invalid response field fails the response and not the connection`() throws {
    try connect()
    try send("GET /odd HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try response().hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
    try send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try response().hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  @Test func `an older client is told whether the connection stays open`() throws {
    try connect()
    try send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(try response().contains("Connection: keep-alive\r\n"))
    #expect(channel.isActive)
    try send("GET / HTTP/1.0\r\n\r\n")
    #expect(try response().contains("Connection: close\r\n"))
    #expect(!channel.isActive)
  }

  @Test func `the service's supported methods are listed`() throws {
    try connect()
    try send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
    let options = try response()
    #expect(options.hasPrefix("HTTP/1.1 204 No Content\r\n"))
    #expect(options.contains("Allow: GET, HEAD, OPTIONS\r\n"))
    try send("GET * HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try response().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
  }

  @Test(arguments: [("GET", true), ("HEAD", true), ("POST", false)])
  func `only a request without a body is prepared on the event loop`(
    _ method: String,
    _ isPrepared: Bool
  ) throws {
    let routes = RouteTable([], immediate: ["/": { _ in nil }], metrics: ServiceMetrics())
    let request = ServiceRequest(method: method, target: try #require(RequestTarget("/")))
    #expect(routes.hasImmediateHandler(request) == isPrepared)
  }

  @Test(arguments: [(413, "Content Too Large"), (422, "Unprocessable Content"), (418, "I'm a teapot")])
  func `status phrases are those of RFC 9110`(_ status: Int, _ phrase: String) {
    #expect(HTTPResponseStatus(registered: status).reasonPhrase == phrase)
  }

  @Test func `a client that leaves during a request is forgotten`() throws {
    try connect()
    try send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhal")
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(!channel.isActive)
  }

  @Test func `a service that shuts down closes idle connections`() throws {
    try connect()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(!channel.isActive)
  }
}
