import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import FeedimgService

/// What becomes of clients that do not behave, in a time that the test moves.
@Suite struct ConnectionTests {
  private let channel = EmbeddedChannel()

  private func connect(_ access: AccessRule = .sameUser, bodyLimit: Int = 100) throws {
    let routes = RouteTable(
      [
        ("/", [("GET", { _ in ServiceResponse(json: "{}") })]),
        ("/odd", [("GET", { _ in ServiceResponse(fields: [("X-A", "a\u{1}b")]) })]),
      ],
      // At once, without a thread that the test would have to wait for.
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

  /// All that was answered up to now.
  private func answer() throws -> String {
    // What was taken at once goes on by the loop.
    channel.embeddedEventLoop.run()
    var text = ""
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text
  }

  private func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

  @Test func `who says nothing is left alone for a while and no longer`() throws {
    try connect()
    pass(29)
    #expect(channel.isActive)
    pass(1)
    #expect(!channel.isActive)
    #expect(try answer() == "")
  }

  @Test func `fields that trickle in do not keep a connection`() throws {
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
    let answer = try answer()
    #expect(answer.hasPrefix("HTTP/1.1 408 "))
    #expect(answer.lowercased().contains("connection: close"))
    // Time to read the answer, and then the end.
    pass(2)
    #expect(!channel.isActive)
  }

  @Test(arguments: [
    ("GET /\r\n\r\n", 505, "no version, as in HTTP/0.9"),
    ("\u{0}\u{1}\r\n\r\n", 400, "no text at all"),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, "a length that is no number"),
    (
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
      "two lengths"
    ),
    (
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501,
      "a coding that is not known (RFC 9112 §6.1)"
    ),
    ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505, "a version that is not spoken"),
    ("GET / HTTP/1.1\r\n\r\n", 400, "no host"),
    ("GET / HTTP/1.1\r\nHost: a b@c/\r\n\r\n", 400, "a host that is none (RFC 9112 §3.2)"),
    ("GET / HTTP/1.0\r\nHost: a@b\r\n\r\n", 400, "the same of an older client"),
    ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "two hosts"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "b", count: 100_000))", 431, "a field without end"),
    ("GET /\(String(repeating: "b", count: 100_000))", 431, "a target without end"),
    ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", 413, "a body that will be too long"),
    (
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n", 413,
      "one that has become so"
    ),
  ]) func `what is malformed or too long is refused in words`(
    _ text: String,
    _ status: Int,
    _ reason: String
  ) throws {
    try connect()
    // The decoder's error has been answered, and is not of the channel any more.
    try? send(text)
    let answer = try answer()
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(reason)")
    #expect(answer.contains("application/problem+json"))
    #expect(answer.lowercased().contains("connection: close"))
    pass(2)
    #expect(!channel.isActive)
  }

  @Test func `who asks for a head alone is refused without a body`() throws {
    try connect(.otherUser(1001))
    try send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try answer().hasSuffix("\r\n\r\n"))
  }

  @Test func `another user is refused before anything is looked at`() throws {
    try connect(.otherUser(1001))
    try send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try answer().hasPrefix("HTTP/1.1 403 "))
  }

  @Test func `who expects to be asked for the body is asked`() throws {
    try connect()
    try send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
    #expect(try answer().hasPrefix("HTTP/1.1 100 "))
  }

  @Test func `all bodies together have a limit`() throws {
    try connect(bodyLimit: 8)
    try send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabcdefghi")
    #expect(try answer().hasPrefix("HTTP/1.1 503 "))
  }

  @Test func `a field that cannot be sent costs the answer and not the connection`() throws {
    try connect()
    try send("GET /odd HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try answer().hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
    try send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try answer().hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  @Test func `an older client is told whether the connection stays`() throws {
    try connect()
    try send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(try answer().contains("Connection: keep-alive\r\n"))
    #expect(channel.isActive)
    try send("GET / HTTP/1.0\r\n\r\n")
    #expect(try answer().contains("Connection: close\r\n"))
    #expect(!channel.isActive)
  }

  @Test func `what the service as a whole takes is told`() throws {
    try connect()
    try send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
    let options = try answer()
    #expect(options.hasPrefix("HTTP/1.1 204 No Content\r\n"))
    #expect(options.contains("Allow: GET, HEAD, OPTIONS\r\n"))
    try send("GET * HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try answer().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
  }

  @Test(arguments: [(413, "Content Too Large"), (422, "Unprocessable Content"), (418, "I'm a teapot")])
  func `statuses are called as RFC 9110 calls them`(_ status: Int, _ phrase: String) {
    #expect(StatusPhrase.text(status) == phrase)
    #expect(StatusPhrase.status(status).reasonPhrase == phrase)
  }

  @Test func `who leaves in the middle of a request is forgotten`() throws {
    try connect()
    try send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhal")
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(!channel.isActive)
  }

  @Test func `a service that ends closes connections that wait`() throws {
    try connect()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(!channel.isActive)
  }
}
