import FeedimgModel
import LoopbackServer
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import FeedimgService

/// Requests that repeat byte for byte get the response that their decoding would give.
@Suite struct RepeatedRequestTests {
  private let requests = RepeatedRequests()
  private let register = ConnectionRegister(limit: 10, bodyLimit: 1000)

  /// A connection whose immediate responses name the parameter of the request.
  private func connect(
    _ access: AccessRule = .sameUser,
    immediate: @escaping RouteTable.ImmediateHandler = { request in
      ServiceResponse(text: "[\(request.target.parameters.first?.name ?? "")]", as: "a/b")
    }
  ) throws -> EmbeddedChannel {
    let routes = RouteTable(
      [("POST", "/at", { _ in ServiceResponse(json: "{}") })],
      immediate: ["/at": immediate],
      metrics: ServiceMetrics()
    )
    let connection = ConnectionHandler(
      routes: routes,
      access: access,
      limits: ConnectionLimits(),
      register: register
    )
    let channel = EmbeddedChannel()
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(RepeatedRequestHandler(for: connection, requests))
    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
    try pipeline.addHandler(connection)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
    return channel
  }

  /// Sends one piece of input and returns the statuses and the bodies of the responses.
  private func responses(to text: String, on channel: EmbeddedChannel) throws -> [String] {
    try channel.writeInbound(ByteBuffer(string: text))
    channel.embeddedEventLoop.run()
    var output = ""
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { output += String(buffer: buffer) }
    return output.split(separator: "HTTP/1.1 ").map { response in
      let body = response.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first ?? ""
      return String(response.prefix(3)) + (body.hasPrefix("[") ? body : "")
    }
  }

  private static func get(_ name: String, _ fields: String = "") -> String {
    "GET /at?\(name) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
  }

  /// Whether the bytes of a request are remembered.
  private func isKnown(_ text: String) -> Bool { requests[ByteBuffer(string: text)] != nil }

  @Test func `a request is remembered for all connections`() throws {
    let first = try connect()
    #expect(try responses(to: Self.get("a"), on: first) == ["200[a]"])
    #expect(isKnown(Self.get("a")))
    for channel in [first, try connect(), first] {
      #expect(try responses(to: Self.get("a"), on: channel) == ["200[a]"])
      #expect(try responses(to: Self.get("b"), on: channel) == ["200[b]"])
    }
  }

  @Test func `pipelined requests are not remembered, and not mistaken for the next one`() throws {
    let channel = try connect()
    #expect(try responses(to: Self.get("a") + Self.get("b"), on: channel) == ["200[a]", "200[b]"])
    let options = "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"
    for _ in 0..<2 { #expect(try responses(to: options, on: channel) == ["204"]) }
    for text in [Self.get("a") + Self.get("b"), Self.get("b"), options] { #expect(!isKnown(text)) }
  }

  @Test func `a known request inside another one is a part of that one`() throws {
    let channel = try connect()
    let known = Self.get("a")
    #expect(try responses(to: known, on: channel) == ["200[a]"])
    let head = "POST /at HTTP/1.1\r\nHost: x\r\nContent-Length: \(known.utf8.count + 1)\r\n\r\n"
    #expect(try responses(to: head, on: channel) == [])
    #expect(try responses(to: known, on: channel) == [])
    let other = try connect()
    #expect(try responses(to: "GET /at?b HTTP/1.1\r\nHost: x\r\nA: ", on: other) == [])
    #expect(try responses(to: known.replacing("Host", with: "B"), on: other) == ["200[b]"])
  }

  @Test func `each connection has its own access rule`() throws {
    let token = "0123456789abcdef0123456789abcdef"
    let fields = "Authorization: Bearer \(token)\r\n"
    let get = "GET /at?a HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
    let rules: [(AccessRule, String)] = [
      (.loopback(port: 80, token: AccessToken(token)), "200[a]"), (.otherUser(1001), "403"),
      (.loopback(port: 80, token: AccessToken(String(token.reversed()))), "401"),
      (.loopback(port: 81, token: AccessToken(token)), "403"),
    ]
    for (rule, response) in rules {
      #expect(try responses(to: get, on: connect(rule)) == [response])
      #expect(isKnown(get))
    }
  }

  @Test func `a request that changes its connection is decoded each time`() throws {
    for fields in ["Expect: 100-continue\r\n", "Connection: close\r\n", "Upgrade: h2c\r\n"] {
      let get = Self.get("a", fields)
      for _ in 0..<2 {
        let channel = try connect()
        #expect(try responses(to: get, on: channel).last == "200[a]")
        #expect(channel.isActive == fields.hasPrefix("Expect"))
      }
      #expect(!isKnown(get))
    }
  }

  @Test func `a request with a name of its own is not remembered`() throws {
    let get = Self.get("a", "Feedimg-Load: row17\r\n")
    #expect(try responses(to: get, on: connect()) == ["200[a]"])
    #expect(!isKnown(get))
  }

  @Test func `a response that cannot be sent does not affect the next ones`() throws {
    // One of the first two responses has a field that cannot be sent.
    let count = Mutex(0)
    let channel = try connect { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      var response = ServiceResponse(text: "[a]", as: "a/b")
      if number == 2 { response.fields.fields.append(.init(name: "A", value: "b\r\nC: d")) }
      return response
    }
    let statuses = try (0..<5).map { _ in try responses(to: Self.get("a"), on: channel) }
    #expect(statuses == [["200[a]"], ["500"], ["200[a]"], ["200[a]"], ["200[a]"]])
  }

  @Test func `the number and the length of remembered requests are limited`() throws {
    let channel = try connect()
    for number in 0...512 { _ = try responses(to: Self.get("\(number)"), on: channel) }
    #expect(!isKnown(Self.get("0")) && isKnown(Self.get("512")))
    let long = Self.get("a", "A: \(String(repeating: "b", count: 2048))\r\n")
    #expect(try responses(to: long, on: channel) == ["200[a]"])
    #expect(!isKnown(long))
  }

  @Test func `a change of the settings counts for the next repeated request`() throws {
    let origin = try LoopbackServer { request in
      let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
      return .response(200, fields, body: SampleImage.jpeg + [request.path == "/t" ? 0 : 1])
    }
    let service = try ServiceRun(["--network=cellular"])
    let client = try RawClient(service.socket)
    let target = RawClient.target(image: origin.url("/o"), thumbnail: origin.url("/t"))
    func lastByte() -> UInt8? {
      client.get(target, "X: a")
      return client.response().body.last
    }
    for _ in 0..<4 { #expect(lastByte() == 0) }
    let change = #"{"always-load-originals-on-cellular":true}"#
    _ = try service.curl("/v1/settings", "-X", "PATCH", "--json", change)
    #expect(lastByte() == 1)
  }

  @Test func `repeated requests for a range of all bytes count as 206`() throws {
    let origin = try LoopbackServer { _ in
      .response(
        200,
        [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")],
        body: SampleImage.jpeg
      )
    }
    let service = try ServiceRun(["--network=wifi"])
    let client = try RawClient(service.socket)
    let target = RawClient.target(image: origin.url("/o"), thumbnail: origin.url("/t"))
    for _ in 0..<5 {
      client.get(target, "Range: bytes=0-")
      #expect(client.response().head.hasPrefix("HTTP/1.1 206 "))
    }
    let counted = #"feedimg_requests_total{route="/v1/image",status="206"} 5"#
    #expect(try service.curl("/metrics").text.contains(counted))
  }

  @Test func `a repeated request gets the head and the body that a new one gets`() throws {
    let version = Mutex<UInt8>(0)
    let origin = try LoopbackServer { request in
      let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
      let version = version.withLock { $0 }
      let end = request.path == "/t" ? [version] : [1, version]
      return .response(200, fields, body: SampleImage.jpeg + end)
    }
    let service = try ServiceRun(["--network=cellular"])
    let client = try RawClient(service.socket)
    let target = RawClient.target(image: origin.url("/o"), thumbnail: origin.url("/t"))
    let passing = ["Date:", "Server-Timing:", "Cache-Status:"]
    /// The lasting lines of the head, and the body; checks that the head has one of each passing field.
    func response(_ field: String) -> Set<String> {
      client.get(target, field)
      let (head, body) = client.response()
      let lines = head.split(separator: "\r\n").map(String.init)
      #expect(passing.allSatisfy { name in lines.count { $0.hasPrefix(name) } == 1 }, "\(head)")
      return Set(lines.filter { line in !passing.contains { line.hasPrefix($0) } } + ["\(body)"])
    }
    for (number, change) in [nil, "network=wifi", "network=wifi"].enumerated() {
      version.withLock { $0 += 1 }
      // The second time the original becomes cached, and the third time it changes.
      if let change { _ = try service.curl("\(target)&\(change)", "-H", "Cache-Control: no-cache") }
      _ = response("X: load\(number)")
      let fresh = response("X: memory\(number)")
      let role = number == 0 ? "thumbnail" : "original"
      #expect(fresh.contains("Feedimg-Image: \(role)"))
      for _ in 0..<4 { #expect(response("X: same") == fresh) }
    }
  }
}
