import Feedimg
import FeedimgModel
import LoopbackServer
import Testing

@testable import FeedimgService

/// Feeds at `/g/TOKEN/feed/URL`, with a real server behind the gateway.
@Suite(.timeLimit(.minutes(10))) struct GatewayFeedTests {
  private static let feed = """
    <?xml version="1.0"?>\r\n<rss  version='2.0' xmlns:media="http://search.yahoo.com/mrss/"><channel>
    <link>https://site.example/</link><item><link>/big.png</link><media:content medium="image" url="/big.png">\
    <media:thumbnail url="/small.png"/></media:content>
    <description><![CDATA[<a href="/big.png"><img src="/big.png"></a>]]></description></item></channel></rss>

    """

  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      let dates = [("ETag", "\"v1\""), ("Last-Modified", "Tue, 24 Nov 2026 10:00:00 GMT")]
      let type = [("Content-Type", "application/rss+xml"), ("Accept-Ranges", "bytes")]
      switch request.path {
      case "/big.png", "/small.png":
        let body = request.path == "/big.png" ? SampleImage.jpeg : SampleImage.png
        return .response(200, [("Cache-Control", "max-age=600"), ("Content-Type", "image/png")], body: body)
      case "/feed.xml":
        let isKnown = request["If-None-Match"] == "\"v1\"" || request["If-Modified-Since"] == dates[1].1
        guard !isKnown else { return .response(304, dates) }
        return .response(200, type + dates + [("Set-Cookie", "a=b")], body: Array(feed.utf8))
      case "/echo":
        let text = ["Authorization", "Cookie", "Range", "Accept"].map { "\($0)=\(request[$0] ?? "none")" }
        return .response(200, [("X-Target", request.target)], body: Array(text.joined(separator: " ").utf8))
      case "/page":
        return .response(200, [("Content-Type", "text/html")], body: Array("<html><img src=a>".utf8))
      case "/moved": return .redirect(to: "/feed.xml?a=%20b", 301)
      case "/away":
        return .redirect(to: "http://localhost:\(request["Host"]?.split(separator: ":").last ?? "")/echo")
      case "/gzip":
        return .response(200, type + [("Content-Encoding", "gzip")], body: Gzip.stored(Array(feed.utf8)))
      case "/brotli":
        return .response(200, type + [("Content-Encoding", "br")], body: Brotli.stored(Array(feed.utf8)))
      case "/cut": return .truncated(Array(feed.utf8), after: 200, type)
      case "/cut-chunks": return .truncatedChunks(Array(feed.utf8))
      case "/long":
        let body = Array(feed.utf8) + [UInt8](repeating: 0x20, count: 9 << 20)
        return .response(200, type, body: body)
      default: return .response(404, [("Content-Type", "text/plain")], body: Array("nothing".utf8))
      }
    }
  }

  /// The addresses of pictures in a changed feed, in order.
  private func addresses(_ text: String) -> [String] {
    text.split(separator: "\"").filter { $0.contains("/g/s/") }.map(String.init)
  }

  @Test func `pictures of a feed load through the service, and all other bytes stay`() throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures", network: "cellular"))
    let response = try gateway.ask(try gateway.feed(server.url("/feed.xml")))
    #expect((response.status, response["Content-Type"]) == (200, "application/rss+xml"))
    #expect(response["Content-Length"] == String(response.body.count))
    #expect((response["Set-Cookie"], response["Accept-Ranges"]) == (nil, nil))
    #expect(response["Content-Security-Policy"] == "sandbox")
    let pictures = addresses(response.text)
    try #require(pictures.count == 3)
    var restored = response.text
    for (address, old) in zip(pictures, ["/big.png", "/small.png", "/big.png"]) {
      #expect(address.hasPrefix("\(gateway.base)/g/s/") && address.hasSuffix(".png"))
      if let place = restored.firstRange(of: address) { restored.replaceSubrange(place, with: old) }
      #expect(try gateway.ask(address)["Feedimg-Image"] == "thumbnail")
    }
    #expect(restored == Self.feed)
    #expect(server.log.count(of: "/big.png") == 0 && server.log.count(of: "/small.png") == 1)
    #expect(!response.text.contains(try gateway.token()))
  }

  @Test func `a feed keeps its tag and date, which the server validates`() throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures"))
    let feed = try gateway.feed(server.url("/feed.xml"))
    let response = try gateway.ask(feed)
    let date = try #require(response["Last-Modified"])
    #expect(response["ETag"] == "\"v1\"")
    for condition in ["If-None-Match: \"v1\"", "If-Modified-Since: \(date)"] {
      let again = try gateway.ask(feed, "-H", condition)
      #expect((again.status, again.body.count, again["ETag"]) == (304, 0, "\"v1\""))
    }
    let head = try gateway.ask(feed, "--head")
    #expect((head.status, head["Content-Length"], head["Last-Modified"]) == (200, nil, date))
  }

  @Test func `the target passes as sent, and credentials reach the server of the feed alone`() throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures"))
    let credentials = ["-H", "Authorization: Basic YTpi", "-H", "Cookie: a=b", "-H", "Range: bytes=0-1"]
    let echo = try CurlResponse(
      of: try gateway.run(try gateway.feed(server.url("/echo?a=%2F+b&url=http://c/")), credentials)
    )
    #expect(echo.text == "Authorization=Basic YTpi Cookie=a=b Range=none Accept=*/*")
    #expect(echo["X-Target"] == "/echo?a=%2F+b&url=http://c/")
    // The gateway follows this redirect to another origin, which gets no credentials.
    let away = try CurlResponse(of: try gateway.run(try gateway.feed(server.url("/away")), credentials))
    #expect(away.text.hasPrefix("Authorization=none Cookie=none"))
  }

  @Test func `a redirect leads back to the gateway`() throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures"))
    let moved = try gateway.ask(try gateway.feed(server.url("/moved")))
    let location = try #require(moved["Location"])
    #expect(
      (moved.status, location) == (301, gateway.base + (try gateway.feed(server.url("/feed.xml?a=%20b"))))
    )
    #expect(addresses(try gateway.ask(location).text).count == 3)
  }

  @Test(arguments: ["/gzip", "/brotli"]) func `a compressed feed is changed`(_ path: String) throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures"))
    let response = try gateway.ask(try gateway.feed(server.url(path)))
    #expect((response.status, response["Content-Encoding"], addresses(response.text).count) == (200, nil, 3))
    let coding = server.log.requests.last?["Accept-Encoding"] ?? ""
    #expect(coding.contains("gzip") && coding.contains("br"))
  }

  @Test func `what is no whole feed passes unchanged, or is a problem`() throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures"))
    func ask(_ path: String) throws -> CurlResponse { try gateway.ask(try gateway.feed(server.url(path))) }
    #expect(try ask("/page").text == "<html><img src=a>")
    #expect(try (ask("/none").status, ask("/none").text) == (404, "nothing"))
    #expect(try ask("/big.png").body == SampleImage.jpeg)
    let long = try ask("/long")
    #expect(long.body.count == Self.feed.utf8.count + 9 << 20 && long.body.starts(with: Self.feed.utf8))
    for path in ["/cut", "/cut-chunks"] {
      let cut = try ask(path)
      #expect((cut.status, cut["Content-Type"]) == (502, "application/problem+json"), "\(path)")
    }
    for (url, status) in [("ftp://x.example/a", 400), ("", 400), ("x", 400)] {
      #expect(try gateway.ask(try gateway.feed(url)).status == status)
    }
    let feed = try gateway.feed(server.url("/feed.xml"))
    #expect(try gateway.ask(feed, "-X", "POST").status == 405)
    #expect(try gateway.ask(feed.replacing("/feed/", with: "x/feed/")).status == 403)
    server.stop()
    #expect(try ask("/feed.xml").status == 502)
  }

  @Test func `a feed on a private address needs permission`() throws {
    let server = try Self.server()
    let service = try ServiceRun(["--network=wifi", "--port=0", "--gateway=pictures"], allowsPrivate: false)
    let gateway = GatewayRun(service, port: try #require(service.port))
    #expect(try gateway.ask(try gateway.feed(server.url("/feed.xml"))).status == 403)
    #expect(server.log.requests.isEmpty)
  }

  @Test func `pictures that were shown are there offline`() throws {
    let (server, gateway) = (try Self.server(), try GatewayRun("pictures"))
    let pictures = addresses(try gateway.ask(try gateway.feed(server.url("/feed.xml"))).text)
    for address in pictures { #expect(try gateway.ask(address).status == 200) }
    server.stop()
    let offline = try GatewayRun("pictures", network: "offline", besides: gateway)
    for address in pictures {
      let response = try offline.ask(address.replacing(gateway.base, with: offline.base))
      #expect((response.status, response.body.isEmpty) == (200, false))
    }
  }

  @Test func `a server that does not respond in time is a problem with status 504`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate) }
    defer { gate.open() }
    var configuration = ImageLoader.Configuration()
    configuration.reachesPrivateHosts = true
    let forwarding = GatewayForwarding(
      loader: try ImageLoader(configuration),
      responseTimeout: .milliseconds(50)
    )
    let address = GatewayAddress(base: "http://127.0.0.1:1", token: AccessToken("t"))
    let target = try #require(RequestTarget("/g/t/feed/\(server.url("/feed.xml"))"))
    let problem = await #expect(throws: Problem.self) {
      try await forwarding.response(
        to: ServiceRequest(method: "GET", target: target),
        try FeedExchange(ServiceRequest(method: "GET", target: target), address)
      )
    }
    #expect(problem?.status == 504)
  }
}
