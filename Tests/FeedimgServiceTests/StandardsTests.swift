import FeedimgJSON
import LoopbackServer
import Testing

/// What standards require of responses, as clients see it.
@Suite(.timeLimit(.minutes(10))) struct StandardsTests {
  private static let jpeg = SampleImage.jpeg

  private func image(_ service: ServiceRun, _ url: String, _ arguments: String...) throws -> CurlResponse {
    let item = JSONValue.object(JSONObject([("originalImage", .string(url))])).text(.compact)
    return try CurlResponse(
      of: try service.request(["-G", "/v1/image", "--data-urlencode", "item=\(item)"] + arguments)
    )
  }

  private func fetch(_ service: ServiceRun, _ url: String, _ arguments: String...) throws -> CurlResponse {
    try CurlResponse(
      of: try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(url)"] + arguments)
    )
  }

  // MARK: Cache-Status (RFC 9211)

  @Test func `the cache status says that the server was asked, and its status`() throws {
    let origin = try PictureOrigin(Self.jpeg, [("ETag", "\"a\""), ("Cache-Control", "max-age=600")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a.jpg")
    let reload = ["-H", "Cache-Control: no-cache"]
    #expect(try image(service, url)["Cache-Status"] == "feedimg; fwd=uri-miss; stored")
    #expect(try image(service, url)["Cache-Status"]?.hasPrefix("feedimg; hit; ttl=") == true)
    #expect(
      try image(service, url, reload[0], reload[1])["Cache-Status"] == "feedimg; fwd=request; fwd-status=304"
    )
    origin.version = PictureOrigin.Version(PictureOrigin.picture(1, size: 5000), [("ETag", "\"b\"")])
    let new = try image(service, url, reload[0], reload[1])
    #expect(new["Cache-Status"] == "feedimg; fwd=request; fwd-status=200; stored")
    #expect(new.body == origin.version.body)
    origin.respond(always: .response(404))
    let failed = try image(service, url, reload[0], reload[1])
    #expect((failed.status, failed["Cache-Status"]) == (200, "feedimg; fwd=request; fwd-status=404"))
    let other = try image(service, origin.server.url("/b.jpg"), reload[0], reload[1])
    #expect(other.status == 502)
  }

  @Test func `the cache status names no request that was not sent`() throws {
    let origin = try PictureOrigin(Self.jpeg, [("ETag", "\"a\"")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a.jpg")
    _ = try image(service, url)
    // It may be stale and is revalidated in the background, which is a hit.
    #expect(try image(service, url, "-H", "If-None-Match: \"x\"")["Cache-Status"]?.contains("hit") == true)
    service.signal(15)
    #expect(service.end() == 0)
    let next = try ServiceRun(["--network=offline"], besides: service)
    let offline = try image(next, url, "-H", "Cache-Control: no-cache")
    #expect(offline["Cache-Status"]?.hasPrefix("feedimg; hit;") == true)
  }

  @Test func `a client with only-if-cached gets a cached response or 504`() throws {
    let origin = try PictureOrigin(Self.jpeg, [("ETag", "\"a\"")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a.jpg")
    let none = try image(service, url, "-H", "Cache-Control: max-age=9, Only-If-Cached")
    #expect((none.status, none.object["type"]) == (504, "urn:feedimg:problem:only-if-cached"))
    #expect(none["Cache-Status"] == "feedimg; detail=only-if-cached")
    for given in ["network=wifi", "set=network=wifi"] {
      let asked = try image(service, url, "-H", "Cache-Control: only-if-cached", "--data-urlencode", given)
      #expect(asked.status == 504, "for the query \(given)")
    }
    #expect(origin.requests.isEmpty)
    _ = try image(service, url)
    let cached = try image(service, url, "-H", "Cache-Control: only-if-cached")
    #expect((cached.status, cached.body) == (200, Self.jpeg))
    #expect(cached["Cache-Status"]?.contains("hit") == true)
    #expect(origin.requests.count == 1)
  }

  // MARK: Ranges and conditions (RFC 9110 §13, §14)

  @Test func `HEAD has no ranges`() throws {
    let long = PictureOrigin.picture(1, size: 300_000)
    let origin = try LoopbackServer { request in
      .response(
        200,
        [("ETag", "\"a,b\""), ("Cache-Control", "max-age=60")],
        body: request.path == "/long" ? long : Self.jpeg
      )
    }
    let service = try ServiceRun(["--network=wifi"])
    // As it arrives, and from the cache.
    for _ in 0..<2 {
      for (path, length) in [("/long", long.count), ("/short", Self.jpeg.count)] {
        let heads = [
          try image(service, origin.url(path), "--head", "-H", "Range: bytes=0-9"),
          try fetch(service, origin.url("/f\(path)"), "--head", "-H", "Range: bytes=0-9"),
        ]
        for head in heads {
          let length = head["Feedimg-Image"] == nil ? Self.jpeg.count : length
          #expect((head.status, head["Content-Length"]) == (200, String(length)), "\(path)")
        }
      }
      _ = try fetch(service, origin.url("/f/long"))
    }
    #expect(try fetch(service, origin.url("/f/long"), "-H", "If-None-Match: \"a,b\"").status == 304)
    #expect(try fetch(service, origin.url("/f/long"), "-H", "If-None-Match: \"a\", \"b\"").status == 200)
  }

  @Test func `a refused range or image still has a cache status`() throws {
    let origin = try PictureOrigin(Self.jpeg, [("ETag", "\"a\""), ("Cache-Control", "max-age=600")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a.jpg")
    _ = (try image(service, url), try fetch(service, url))
    let responses = [
      (try image(service, url, "-H", "If-Match: \"x\""), 412),
      (try image(service, url, "-H", "Range: bytes=999999-"), 416),
      (try fetch(service, url, "-H", "Range: bytes=999999-"), 416),
    ]
    for (response, status) in responses {
      #expect(response.status == status)
      #expect(response["Cache-Status"]?.hasPrefix("feedimg; hit; ttl=") == true)
      #expect(response.values(of: "Cache-Control") == ["no-store"])
    }
  }

  // MARK: Fields

  @Test func `the head of the event stream has no length`() throws {
    let head = try ServiceRun().curl("/v1/events", "--head")
    #expect((head.status, head["Content-Type"]) == (200, "text/event-stream"))
    #expect(head["Content-Length"] == nil)
  }

  @Test func `the accepted formats of a change are announced`() throws {
    let service = try ServiceRun()
    let types = "application/merge-patch+json, application/json"
    let refused = try service.curl("/v1/settings", "-X", "PATCH", "-H", "Content-Type: a/b", "-d", "{}")
    #expect((refused.status, refused["Accept-Patch"]) == (415, types))
    let options = try service.curl("/v1/settings", "-X", "OPTIONS")
    #expect((options.status, options["Accept-Patch"]) == (204, types))
    #expect(options["Allow"] == "GET, HEAD, PATCH, OPTIONS")
  }
}
