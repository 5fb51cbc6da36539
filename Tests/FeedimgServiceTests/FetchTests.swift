import FeedimgJSON
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

/// `/v1/fetch`, with a real origin behind the service.
@Suite(.timeLimit(.minutes(10))) struct FetchTests {
  private static func ask(_ service: ServiceRun, _ url: String, _ arguments: String...) throws -> CurlResponse
  {
    try CurlResponse(
      of: try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(url)"] + arguments)
    )
  }

  private let body = Array("hello, world".utf8)

  @Test func `status, fields and body are those of the server`() throws {
    let origin = try LoopbackServer { [body] request in
      switch request.path {
      case "/teapot":
        .response(
          418,
          [("Content-Type", "text/plain"), ("X-Own", "1"), ("Connection", "X-Hop"), ("X-Hop", "1")],
          body: body
        )
      case "/moved": .response(301, [("Location", "/elsewhere")])
      case "/chunks": .chunked([("Content-Type", "text/plain")], body: body, size: 3)
      default: .response(204)
      }
    }
    let service = try ServiceRun(["--network=wifi"])
    let teapot = try Self.ask(service, origin.url("/teapot"))
    #expect((teapot.status, teapot.body, teapot["X-Own"], teapot["X-Hop"]) == (418, body, "1", nil))
    #expect((teapot["Content-Type"], teapot["Content-Length"]) == ("text/plain", "12"))
    #expect(teapot["Cache-Status"] == "feedimg; fwd=uri-miss; fwd-status=418")
    let moved = try Self.ask(service, origin.url("/moved"))
    #expect((moved.status, moved["Location"]) == (301, "/elsewhere"))
    #expect(try Self.ask(service, origin.url("/chunks")).body == body)
    #expect(try Self.ask(service, origin.url("/chunks"), "--http1.0").body == body)
    let empty = try Self.ask(service, origin.url("/empty"))
    #expect((empty.status, empty.body.count, empty["Content-Length"]) == (204, 0, nil))
    #expect(origin.log.requests.allSatisfy { $0["Host"] == "127.0.0.1:\(origin.port)" })
  }

  @Test func `a fresh response is not requested again, also after a restart`() throws {
    let origin = try LoopbackServer { [body] _ in
      .response(200, [("Cache-Control", "max-age=600"), ("ETag", "\"a\""), ("Age", "5")], body: body)
    }
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.url("/a?b=c&d")
    let cold = try Self.ask(service, url)
    #expect(cold["Cache-Status"] == "feedimg; fwd=uri-miss; fwd-status=200; stored")
    let warm = try Self.ask(service, url)
    #expect((warm.status, warm.body, warm["ETag"]) == (200, body, "\"a\""))
    #expect(warm["Cache-Status"]?.hasPrefix("feedimg; hit; ttl=5") == true)
    #expect(warm["Age"].flatMap { Int($0) }.map { (5...95).contains($0) } == true)
    let head = try Self.ask(service, url, "--head")
    #expect((head.status, head["Content-Length"], head.body.count) == (200, "12", 0))
    let part = try Self.ask(service, url, "-H", "Range: bytes=0-4")
    #expect((part.status, part.text, part["Content-Range"]) == (206, "hello", "bytes 0-4/12"))
    #expect(try Self.ask(service, url, "-H", "Range: bytes=0-4", "-H", "If-Range: \"b\"").status == 200)
    let beyond = try Self.ask(service, url, "-H", "Range: bytes=12-")
    #expect((beyond.status, beyond["Content-Range"]) == (416, "bytes */12"))
    let known = try Self.ask(service, url, "-H", "If-None-Match: W/\"a\"")
    #expect((known.status, known.body.count, known["ETag"]) == (304, 0, "\"a\""))

    service.signal(15)
    #expect(service.end() == 0)
    let next = try ServiceRun(["--network=offline"], besides: service)
    #expect(try Self.ask(next, url).body == body)
    #expect(origin.log.requests.count == 1)
  }

  @Test func `a response without freshness information is validated each time`() throws {
    let origin = try PictureOrigin(body, [("ETag", "\"a\"")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a")
    for _ in 0..<2 { _ = try Self.ask(service, url) }
    #expect(origin.requests.map { $0["If-None-Match"] } == [nil, "\"a\""])
    let again = try Self.ask(service, url)
    #expect((again.status, again.body) == (200, body))
    #expect(again["Cache-Status"] == "feedimg; fwd=stale; fwd-status=304")
    // The client's validator is compared with the stored response. It is not sent to the server.
    #expect(try Self.ask(service, url, "-H", "If-None-Match: \"a\"").status == 304)
    #expect(try Self.ask(service, url, "-H", "Range: bytes=7-").text == "world")
    origin.version = PictureOrigin.Version(
      Array("news".utf8),
      [("ETag", "\"b\""), ("Cache-Control", "max-age=60")]
    )
    #expect(try Self.ask(service, url).text == "news")
    #expect(try Self.ask(service, url)["Cache-Status"]?.hasPrefix("feedimg; hit") == true)
  }

  @Test func `stale responses are used only if the rules allow it`() throws {
    struct Row {
      var path: String
      var fields: [(String, String)]
      var whenFailing: Int
      var whenGone: Int
    }
    let rows = [
      Row(path: "/silent", fields: [], whenFailing: 503, whenGone: 200),
      Row(path: "/stale", fields: [("Cache-Control", "max-age=0")], whenFailing: 503, whenGone: 200),
      Row(
        path: "/error",
        fields: [("Cache-Control", "max-age=0, stale-if-error=60")],
        whenFailing: 200,
        whenGone: 200
      ),
      Row(
        path: "/must",
        fields: [("Cache-Control", "max-age=0, must-revalidate")],
        whenFailing: 503,
        whenGone: 504
      ),
      Row(path: "/never", fields: [("Cache-Control", "no-store")], whenFailing: 503, whenGone: 502),
    ]
    let isFailing = Flag()
    let origin = try LoopbackServer { [body, rows] request in
      isFailing.isSet
        ? .response(503) : .response(200, rows.first { $0.path == request.path }?.fields ?? [], body: body)
    }
    let service = try ServiceRun(["--network=wifi"])
    for row in rows { #expect(try Self.ask(service, origin.url(row.path)).status == 200) }
    isFailing.set()
    for row in rows {
      #expect(try Self.ask(service, origin.url(row.path)).status == row.whenFailing, "\(row.path)")
    }
    origin.stop()
    for row in rows {
      let response = try Self.ask(service, origin.url(row.path))
      #expect(response.status == row.whenGone, "\(row.path)")
      if response.status == 200 { #expect(response["Cache-Status"] == "feedimg; fwd=stale; detail=stale") }
    }
  }

  @Test func `variants are selected by the fields that the server names in Vary`() throws {
    let origin = try LoopbackServer { request in
      let text = "\(request["Accept-Language"] ?? "none")"
      return .response(
        200,
        [("Cache-Control", "max-age=60"), ("Vary", "Accept-Language")],
        body: Array(text.utf8)
      )
    }
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.url("/a")
    for _ in 0..<2 {
      for language in ["de", "en"] {
        #expect(try Self.ask(service, url, "-H", "Accept-Language: \(language)").text == language)
      }
      #expect(try Self.ask(service, url).text == "none")
    }
    #expect(origin.log.requests.count == 3)
    let other = try Self.ask(service, url, "-H", "Accept-Language: fr")
    #expect(other["Cache-Status"]?.hasPrefix("feedimg; fwd=vary-miss") == true)
  }

  @Test func `a request with credentials shares with no other request`() throws {
    let origin = try LoopbackServer { request in
      .response(
        200,
        [("Cache-Control", "max-age=60")],
        body: Array((request["Authorization"] ?? "nobody").utf8)
      )
    }
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.url("/a")
    for _ in 0..<2 {
      #expect(try Self.ask(service, url, "-H", "Authorization: Basic YQ==").text == "Basic YQ==")
      #expect(try Self.ask(service, url).text == "nobody")
    }
    #expect(origin.log.requests.count == 2)
  }

  @Test func `the token of the service is sent to no server`() throws {
    let origin = try LoopbackServer { request in
      .response(200, body: Array((request["Authorization"] ?? "none").utf8))
    }
    let service = try ServiceRun(["--network=wifi", "--port=0"])
    let path = URL(filePath: "\(service.root)/config/feedimg/service-token")
    let token = String(decoding: try Data(contentsOf: path), as: UTF8.self).split(separator: "\n").joined()
    let words = service.errors.split { $0 == " " || $0 == "\n" }
    let address = try #require(words.first { $0.hasPrefix("http://") })
    let run = try CurlRun([
      "-G", "\(address)/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))", "-H",
      "Authorization: Bearer \(token)",
    ])
    #expect(try CurlResponse(of: run).text == "none")
  }

  @Test func `the client decides whether a server is asked`() throws {
    let origin = try PictureOrigin(body, [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a")
    let refused = try Self.ask(service, url, "-H", "Cache-Control: only-if-cached")
    #expect((refused.status, refused.object["type"]) == (504, "urn:feedimg:problem:only-if-cached"))
    _ = try Self.ask(service, url)
    #expect(try Self.ask(service, url, "-H", "Cache-Control: only-if-cached").status == 200)
    let asked = try Self.ask(service, url, "-H", "Cache-Control: no-cache")
    #expect(asked["Cache-Status"] == "feedimg; fwd=request; fwd-status=304")
    #expect(origin.requests.count == 2)
  }

  @Test func `concurrent requests for one uncached URL cause one request`() async throws {
    let gate = Gate()
    let origin = try LoopbackServer { [body] _ in
      .stalled(body, after: 3, until: gate, [("Cache-Control", "max-age=60")])
    }
    let service = try ServiceRun(["--network=wifi"])
    let requests = try (0..<20).map { _ in
      try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))"])
    }
    // A client that has the head shares the transfer.
    let heads = requests.map { $0.block() ?? "" }
    gate.open()
    #expect(heads.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") })
    #expect(heads.count { $0.contains("; collapsed\n") } == 19)
    #expect(requests.allSatisfy { $0.rest() == body })
    #expect(origin.log.requests.count == 1)
  }

  @Test func `a response that must not be stored serves only its own request`() async throws {
    let gate = Gate()
    let origin = try LoopbackServer { [body] _ in
      .held(by: gate, then: .response(200, [("Cache-Control", "no-store")], body: body))
    }
    let service = try ServiceRun(["--network=wifi"])
    let requests = try (0..<3).map { _ in
      try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))"])
    }
    await origin.reaches { $0.requests.count == 1 }
    while try !service.curl("/metrics").text.contains("feedimg_connections 4\n") {}
    gate.open()
    for request in requests { #expect(try CurlResponse(of: request).body == body) }
    #expect(origin.log.requests.count == 3)
  }

  @Test func `a body is forwarded as it arrives`() async throws {
    let gate = Gate()
    let body = [UInt8](repeating: 7, count: 100_000)
    let origin = try LoopbackServer { _ in .stalled(body, after: 10, until: gate) }
    let service = try ServiceRun(["--network=wifi"])
    let run = try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))"])
    #expect(run.block()?.contains("200 OK") == true)
    #expect(run.take(10) == Array(body.prefix(10)))
    gate.open()
    #expect(run.rest().count == body.count - 10)
  }

  @Test
  func `a client that disconnects stops the transfer, and an interrupted body is interrupted for the client`()
    async throws
  {
    let gate = Gate()
    let body = [UInt8](repeating: 7, count: 100_000)
    let origin = try LoopbackServer { request in
      request.path == "/cut" ? .truncated(body, after: 1000) : .stalled(body, after: 10, until: gate)
    }
    let service = try ServiceRun(["--network=wifi"])
    let run = try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))"])
    #expect(run.block()?.contains("200 OK") == true)
    run.hangUp()
    await origin.reaches { $0.closedByClient == 1 }
    let cut = try Self.ask(service, origin.url("/cut"))
    #expect((cut.status, cut["Content-Length"], cut.body.count) == (200, "100000", 1000))
    // Nothing was stored.
    #expect(try Self.ask(service, origin.url("/cut"))["Cache-Status"]?.contains("fwd=uri-miss") == true)
  }

  @Test func `a download stops if its client has the response already`() async throws {
    let gate = Gate()
    let origin = try LoopbackServer { [body] request in
      request["If-None-Match"] == nil
        ? .response(200, [("ETag", "\"a\"")], body: body)
        : .stalled(body, after: 3, until: gate, [("ETag", "\"b\"")])
    }
    let service = try ServiceRun(["--network=wifi"])
    #expect(try Self.ask(service, origin.url("/a")).status == 200)
    // The stored response is stale, and the client has the newer one.
    let known = try Self.ask(service, origin.url("/a"), "-H", "If-None-Match: \"b\"")
    #expect((known.status, known["ETag"]) == (304, "\"b\""))
    await origin.reaches { $0.closedByClient == 1 }
    gate.open()
  }

  @Test func `other schemes and private hosts are refused`() throws {
    let origin = try LoopbackServer { _ in .response(200) }
    let service = try ServiceRun(["--network=wifi"], allowsPrivate: false)
    let rows = [
      ("file:///etc/passwd", 403, "forbidden-scheme"), ("gopher://x.example/", 403, "forbidden-scheme"),
      ("http://169.254.169.254/latest/meta-data/", 403, "forbidden-address"),
      ("http://[fd00:ec2::254]/", 403, "forbidden-address"), ("http://2852039166/", 403, "forbidden-address"),
      (origin.url("/"), 403, "forbidden-address"),
      ("http://localhost:\(origin.port)/", 403, "forbidden-address"),
      ("http://[::ffff:127.0.0.1]:\(origin.port)/", 403, "forbidden-address"),
    ]
    for (url, status, code) in rows {
      let response = try Self.ask(service, url)
      #expect(response.status == status, "\(url)")
      #expect(response.object["type"] == .string("urn:feedimg:problem:\(code)"), "\(url)")
      let item = "{\"originalImage\":\"\(url)\"}"
      #expect(try service.curl("/v1/image", "--json", item).status == status, "\(url) as an image")
    }
    for url in ["", "x", "http://", "http://a b/"] {
      #expect(try Self.ask(service, url).status == 400, "\(url)")
    }
    #expect(try service.curl("/v1/fetch").status == 400)
    #expect(origin.log.opened == 0)
  }
}

/// Whether something has happened.
private final class Flag: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .relaxed) }
  func set() { state.store(true, ordering: .relaxed) }
}
