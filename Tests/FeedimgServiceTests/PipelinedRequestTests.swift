import FeedimgModel
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import FeedimgService

/// Requests that follow one another on one connection.
@Suite struct PipelinedRequestTests {
  private let channel = EmbeddedChannel()
  private let register = ConnectionRegister(limit: 10, bodyLimit: 100)

  /// Immediate responses echo their target and the fields that they receive.
  ///
  /// All other routes respond with `-`.
  private func connect(_ access: AccessRule = .sameUser) throws {
    let shortcut: RouteTable.ImmediateHandler = { request in
      guard request.target["later"] == nil else { return nil }
      let seen = request.fields.fields.map(\.name).joined(separator: ",")
      return ServiceResponse(
        text: "[\(request.method) \(request.target.parameters.first?.name ?? "") \(seen)]",
        as: "a/b"
      )
    }
    let routes = RouteTable(
      [
        ("GET", "/at", { _ in ServiceResponse(json: "{}") }),
        ("POST", "/at", { _ in ServiceResponse(json: "{}") }),
      ],
      immediate: ["/at": shortcut],
      metrics: ServiceMetrics()
    )
    let connection = ConnectionHandler(
      routes: routes,
      access: access,
      limits: ConnectionLimits(),
      register: register
    )
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(RepeatedRequestHandler(for: connection, RepeatedRequests()))
    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
    try pipeline.addHandler(connection)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
  }

  private func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

  /// The statuses and the bodies of all responses so far.
  private func responses() throws -> [String] {
    // The event loop completes immediate responses.
    channel.embeddedEventLoop.run()
    var text = ""
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text.split(separator: "HTTP/1.1 ").map { response in
      let body = response.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first ?? ""
      return response.prefix(3) + (body.hasPrefix("[") ? " " + body : "")
    }
  }

  private static func get(_ name: String, _ fields: String = "") -> String {
    "GET /at?\(name) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
  }

  @Test func `pipelined requests get their responses in order`() throws {
    try connect()
    try send(Self.get("a"))
    try send(Self.get("b"))
    #expect(try responses() == ["200 [GET a Host]", "200 [GET b Host]"])
    try send("HEAD /at?c HTTP/1.1\r\nHost: x\r\n\r\n")
    try send(Self.get("d"))
    #expect(try responses() == ["200", "200 [GET d Host]"])
    // Two requests in one piece.
    try send(Self.get("e") + Self.get("f"))
    try send(Self.get("g"))
    #expect(try responses() == ["200 [GET e Host]", "200 [GET f Host]", "200 [GET g Host]"])
  }

  @Test(arguments: [
    ("BREW /at HTTP/1.1\r\nHost: x\r\n\r\n", "501", "an invalid method (RFC 9110 §9.1)"),
    ("get /at?a HTTP/1.1\r\nHost: x\r\n\r\n", "501", "methods are upper-case"),
    ("\u{16}\u{3}\u{1}\r\n\r\n", "501", "a client that begins with TLS"),
    ("GET /at?a HTTP/1.1\r\nHost: a@b\r\n\r\n", "400", "an invalid host"),
    ("GET /at?a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "200 [GET a Host]", "an address as a host"),
  ]) func `malformed requests are refused here too`(
    _ text: String,
    _ response: String,
    _ reason: String
  ) throws {
    try connect()
    try? send(text)
    #expect(try responses() == [response], "\(reason)")
  }

  @Test func `a request that arrives in pieces is one request`() throws {
    try connect()
    for byte in Self.get("a") { try send(String(byte)) }
    try send(Self.get("b"))
    #expect(try responses() == ["200 [GET a Host]", "200 [GET b Host]"])
    let text = Self.get("c")
    try send(String(text.unicodeScalars.prefix(text.unicodeScalars.count - 1)))
    try send("\n")
    try send(Self.get("d"))
    try send(Self.get("e"))
    #expect(try responses() == ["200 [GET c Host]", "200 [GET d Host]", "200 [GET e Host]"])
  }

  @Test func `text that looks like a request inside another one is not a request`() throws {
    try connect()
    // The value of an unfinished field.
    try send("GET /at?a HTTP/1.1\r\nHost: x\r\nA: ")
    try send("GET /at?b HTTP/1.1\r\nB: x\r\n\r\n")
    #expect(try responses() == ["200 [GET a Host,A,B]"])
    // After a request in the same piece.
    try send(Self.get("c") + "GET /at?d HTTP/1.1\r\nHost: x\r\nD: ")
    try send("GET /at?e HTTP/1.1\r\nE: x\r\n\r\n")
    #expect(try responses() == ["200 [GET c Host]", "200 [GET d Host,D,E]"])
    // A body.
    let body = Self.get("f")
    try send("POST /at HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count + 1)\r\n\r\n")
    try send(body)
    #expect(try responses() == [])
  }

  @Test func `slow responses keep the order of their requests`() throws {
    try connect()
    try send(Self.get("later"))
    try send(Self.get("b"))
    // The route has responded, or not yet.
    #expect(try responses().first ?? "200" == "200")
  }

  @Test func `the token is checked for each request`() throws {
    let token = "0123456789abcdef0123456789abcdef"
    func fields(_ token: String) -> String { "Authorization: Bearer \(token)\r\n" }
    for (last, response) in [(fields(String(token.reversed())), "401"), ("", "401")] {
      let test = PipelinedRequestTests()
      try test.connect(.loopback(port: 80, token: AccessToken(token)))
      func get(_ fields: String) -> String { "GET /at?a HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n" }
      try test.send(get(fields(token)))
      try test.send(get(fields(token)))
      // No route sees the token.
      #expect(try test.responses() == ["200 [GET a Host]", "200 [GET a Host]"])
      try test.send(get(last))
      #expect(try test.responses() == [response])
    }
  }

  @Test func `other hosts and other users are refused`() throws {
    try connect(.loopback(port: 80, token: nil))
    try send(Self.get("a"))
    #expect(try responses() == ["403"])
    let test = PipelinedRequestTests()
    try test.connect(.otherUser(1001))
    try test.send(Self.get("a"))
    #expect(try test.responses() == ["403"])
  }

  @Test func `a service that shuts down closes the connection after the response`() throws {
    try connect()
    try send(Self.get("a"))
    register.drain()
    try send(Self.get("b"))
    #expect(try responses().count == 2)
    #expect(!channel.isActive)
  }

  @Test
  func
    `a request to upgrade the protocol gets a response without an upgrade, and then the connection closes`()
    throws
  {
    try connect()
    try send(Self.get("a", "Connection: Upgrade\r\nUpgrade: h2c\r\n"))
    #expect(try responses() == ["200 [GET a Host,Connection,Upgrade]"])
    #expect(!channel.isActive)
  }

  @Test func `a response restarts the idle timeout of its connection`() throws {
    try connect()
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    try send(Self.get("a"))
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }
}
