import FeedimgJSON
import LoopbackServer
import Testing

/// `/v1/image`, with a real origin behind the service.
@Suite(.timeLimit(.minutes(10))) struct ImageTests {
  private let gate = Gate()

  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate] request in
      switch request.target {
      case "/a.jpg": .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
      case "/b.webp": .response(200, [("Content-Type", "image/webp")], body: SampleImage.webp)
      case "/slow.jpg":
        Reply([
          .send(
            Reply.head(
              200,
              [("Content-Type", "image/jpeg"), ("Content-Length", String(SampleImage.jpeg.count))]
            ) + SampleImage.jpeg.prefix(100)
          ),
          .wait(gate), .send(Array(SampleImage.jpeg.dropFirst(100))),
        ])
      case "/page": .response(200, [("Content-Type", "text/html")], body: Array("<p>".utf8))
      default: .response(404)
      }
    }
  }

  private func item(_ origin: LoopbackServer, _ original: String, _ thumbnail: String? = nil) -> String {
    var object = JSONObject([("originalImage", .string(origin.url(original)))])
    if let thumbnail { object["thumbnailImage"] = .string(origin.url(thumbnail)) }
    return JSONValue.object(object).text(.compact)
  }

  /// The stages in `Server-Timing`.
  private func stages(_ response: CurlResponse) -> [String] {
    (response["Server-Timing"] ?? "").split(separator: ", ").map { String($0.prefix { $0 != ";" }) }
  }

  @Test func `the smallest version that the view does not enlarge is returned`() throws {
    let (origin, service) = (try origin(), try ServiceRun(["--network=wifi"]))
    let variants = [("/a.jpg", 1600), ("/c.jpg", 800), ("/b.webp", 320)].map { path, width -> JSONValue in
      ["url": .string(origin.url(path)), "width": .integer(width), "height": .integer(width / 2)]
    }
    let item = JSONValue.object(JSONObject([("variants", .array(variants))])).text(.compact)
    // Later rows find cached what earlier rows loaded, and a cached larger version would be shown.
    let rows: [(query: String, path: String)] = [
      ("?width=1600&network=cellular", "/b.webp"), ("?width=320", "/b.webp"), ("?height=160", "/b.webp"),
      ("?width=801", "/a.jpg"), ("?height=161&width=321", "/a.jpg"), ("?width=5000&height=5000", "/a.jpg"),
      ("", "/a.jpg"),
    ]
    for (query, path) in rows {
      let response = try service.curl("/v1/image\(query)", "--json", item)
      #expect(response["Content-Location"] == origin.url(path), "\(query): \(response.status)")
    }
  }

  @Test func `the chosen image comes from the network, then from memory, and after a restart from disk`()
    throws
  {
    let origin = try origin()
    let item = item(origin, "/a.jpg", "/b.webp")
    let query = ["-G", "/v1/image", "--data-urlencode", "item=\(item)"]
    let service = try ServiceRun(["--network=wifi"])
    let cold = try CurlResponse(of: try service.request(query))
    #expect(cold.status == 200)
    #expect(cold.body == SampleImage.jpeg)
    #expect(cold["Content-Type"] == "image/jpeg")
    #expect(cold["Content-Length"] == String(SampleImage.jpeg.count))
    #expect(cold["Content-Location"] == origin.url("/a.jpg"))
    #expect(cold["Cache-Status"] == "feedimg; fwd=uri-miss; stored")
    #expect(cold["Feedimg-Image"] == "original")
    #expect(cold["Feedimg-Rule"] == "default; rule=2")
    #expect(stages(cold) == ["decide", "cache", "queue", "connect", "wait", "receive", "store", "total"])

    let warm = try service.curl("/v1/image", "--json", item)
    #expect(warm.body == SampleImage.jpeg)
    #expect(warm["Cache-Status"]?.hasPrefix("feedimg; hit; ttl=") == true)
    #expect(warm["Cache-Status"]?.hasSuffix("; detail=memory") == true)
    #expect(stages(warm) == ["decide", "cache", "total"])
    let lookUpInMemory = try CurlResponse(of: try service.request(query))
    #expect(lookUpInMemory["Server-Timing"]?.hasPrefix("cache;desc=\"memory\";dur=") == true)
    #expect(stages(lookUpInMemory) == ["cache"])
    #expect(warm["ETag"] == cold["ETag"])

    service.signal(15)
    #expect(service.end() == 0)
    let next = try ServiceRun(["--network=offline"], besides: service)
    let stored = try CurlResponse(of: try next.request(query))
    #expect(stored.body == SampleImage.jpeg)
    #expect(stored["Cache-Status"]?.hasSuffix("; detail=disk") == true)
    #expect(stored["Server-Timing"]?.contains("cache;desc=\"disk\";dur=") == true)
    #expect(origin.log.requests.count == 1)
  }

  @Test func `a client that reloads a page gets the server's current image`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let item = item(origin, "/a.jpg")
    _ = try service.curl("/v1/image", "--json", item)
    let again = try service.curl("/v1/image", "--json", item, "-H", "Cache-Control: no-cache")
    #expect((again.status, again.body) == (200, SampleImage.jpeg))
    #expect(origin.log.requests.count == 2)
  }

  @Test func `conditional and range requests get 304 and the range`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let query = ["-G", "/v1/image", "--data-urlencode", "item=\(item(origin, "/a.jpg"))"]
    func ask(_ arguments: String...) throws -> CurlResponse {
      try CurlResponse(of: try service.request(query + arguments))
    }
    let tag = try #require(try ask()["ETag"])
    let length = SampleImage.jpeg.count

    let known = try ask("-H", "If-None-Match: \"x\", \(tag)")
    #expect((known.status, known.body.count, known["ETag"]) == (304, 0, tag))
    #expect(try ask("-H", "If-None-Match: \"x\"").status == 200)
    #expect(try ask("-H", "If-Match: \"x\"").status == 412)

    let part = try ask("-H", "Range: bytes=10-19")
    #expect((part.status, part.body) == (206, Array(SampleImage.jpeg[10..<20])))
    #expect(part["Content-Range"] == "bytes 10-19/\(length)")
    #expect(try ask("-H", "Range: bytes=-5").body == Array(SampleImage.jpeg.suffix(5)))
    #expect(try ask("-H", "Range: bytes=0-1", "-H", "If-Range: \(tag)").status == 206)
    #expect(try ask("-H", "Range: bytes=0-1", "-H", "If-Range: \"x\"").body == SampleImage.jpeg)
    let beyond = try ask("-H", "Range: bytes=\(length)-")
    #expect((beyond.status, beyond["Content-Range"]) == (416, "bytes */\(length)"))

    let head = try ask("--head")
    #expect((head.status, head["Content-Length"], head.body.count) == (200, String(length), 0))
  }

  @Test func `a failure at the origin becomes a problem document that explains it`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let rows = [
      ("/missing", 502, "urn:feedimg:problem:status", 404),
      ("/page", 502, "urn:feedimg:problem:not-an-image", nil),
    ]
    for (target, status, type, originStatus) in rows {
      let response = try service.curl("/v1/image", "--json", item(origin, target))
      #expect(response.status == status)
      #expect(response.object["type"] == .string(type))
      #expect(response.object["originStatus"] == originStatus.map { .integer($0) })
      #expect(response.object["url"] == .string(origin.url(target)))
    }
    let offline = try ServiceRun(["--network=offline"]).curl("/v1/image", "--json", item(origin, "/a.jpg"))
    #expect(offline.object["type"] == "urn:feedimg:problem:nothing-to-show")
  }

  @Test func `a failure after a redirect names the server that failed`() throws {
    let other = try origin()
    let first = try LoopbackServer { _ in .response(302, [("Location", other.url("/missing"))]) }
    let service = try ServiceRun(["--network=wifi"])
    let response = try service.curl("/v1/image", "--json", item(first, "/a.jpg"))
    #expect(response.object["url"] == .string(first.url("/a.jpg")))
    #expect(response.object["origin"] == .string(String(other.url("/").dropLast())))
    let own = try service.curl("/v1/image", "--json", item(other, "/missing"))
    #expect(own.status == 502 && own.object["origin"] == nil)
  }

  @Test func `the image falls back to the thumbnail as a load does`() throws {
    let origin = try origin()
    let response = try ServiceRun(["--network=wifi"])
      .curl("/v1/image", "--json", item(origin, "/missing", "/b.webp"))
    #expect((response.status, response["Feedimg-Image"]) == (200, "thumbnail"))
    #expect(response.body == SampleImage.webp)
  }

  @Test func `concurrent requests for one uncached image cause one transfer`() async throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let item = item(origin, "/slow.jpg")
    let requests = try (0..<20).map { _ in try service.request(["/v1/image", "--json", item]) }
    await origin.reaches { $0.count(of: "/slow.jpg") == 1 }
    // One of the connections is this one.
    while try !service.curl("/metrics").text.contains("feedimg_connections 21\n") {}
    gate.open()
    let responses = try requests.map { try CurlResponse(of: $0) }
    #expect(responses.allSatisfy { $0.status == 200 && $0.body == SampleImage.jpeg })
    #expect(responses.count { $0["Cache-Status"] == "feedimg; fwd=uri-miss; stored" } == 1)
    #expect(origin.log.count(of: "/slow.jpg") == 1)
  }

  @Test func `the last client to disconnect stops the transfer`() async throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let item = item(origin, "/slow.jpg")
    let (first, second) = (
      try service.request(["/v1/image", "--json", item]), try service.request(["/v1/image", "--json", item])
    )
    await origin.reaches { $0.count(of: "/slow.jpg") == 1 }
    while try !service.curl("/metrics").text.contains("feedimg_connections 3\n") {}
    first.hangUp()
    while try !service.curl("/metrics").text.contains("feedimg_connections 2\n") {}
    second.hangUp()
    await origin.reaches { $0.closedByClient == 1 }
    #expect(try service.curl("/healthz").status == 200)
  }
}
