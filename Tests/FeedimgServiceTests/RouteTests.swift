import FeedimgJSON
import LoopbackServer
import Testing

/// The service as a client sees it, with curl over the Unix socket.
@Suite(.timeLimit(.minutes(10))) struct RouteTests {
  private static let item =
    #"{"id":"1","originalImage":"http://x.example/a.jpg","thumbnailImage":"http://x.example/b.jpg"}"#

  @Test func `an item is resolved as feedimg resolve does`() throws {
    let service = try ServiceRun(["--network=cellular"])
    let response = try service.curl("/v1/resolve", "--json", Self.item)
    #expect((response.status, response["Content-Type"]) == (200, "application/json"))
    #expect(response.object["image"] == "thumbnail")
    #expect(response.object["load"] == "thumbnail")
    #expect(response.object["place"] == "default.md:10")
  }

  @Test func `an array gets an array, and lines get lines`() throws {
    let service = try ServiceRun(["--network=offline"])
    let array = try service.curl("/v1/resolve", "--json", "[\(Self.item),\(Self.item)]")
    guard case .array(let elements) = try JSONReader.value(in: array.body) else {
      Issue.record("\(array.text)")
      return
    }
    #expect(elements.count == 2)
    #expect(try service.curl("/v1/resolve", "--json", "[]").text == "[]\n")
    let type = "Content-Type: application/x-ndjson"
    #expect(try service.curl("/v1/resolve", "-H", type, "--data-binary", "").status == 422)
    for items in [Self.item, "\(Self.item)\n\(Self.item)\n\(Self.item)\n"] {
      let lines = try service.curl("/v1/resolve", "-H", type, "--data-binary", items)
      #expect(lines["Content-Type"] == "application/x-ndjson")
      let count = items.split(separator: "\n").count
      #expect(try JSONReader.values(in: lines.body).count == count)
      #expect(lines.text.split(separator: "\n").count == count)
    }
  }

  @Test func `a feed gets an array, without its bad entries`() throws {
    let service = try ServiceRun(["--network=cellular"])
    let status =
      #"{"media_attachments":[{"type":"image","url":"http://x.example/a","preview_url":"http://x.example/b"}]}"#
    let found = try service.curl("/v1/resolve", "--json", "[\(status),17]")
    #expect((found.status, found["Content-Type"]) == (200, "application/json"))
    #expect(
      try JSONReader.value(in: found.body)
        == .array(JSONReader.values(in: found.body.dropFirst().dropLast(2)))
    )
    #expect(found.text.contains(#""url":"http://x.example/b""#))
    func post(_ target: String, _ type: String, _ body: String) throws -> CurlResponse {
      try service.curl(target, "-H", "Content-Type: \(type)", "--data-binary", body)
    }
    let page = try post(
      "/v1/resolve?from=html&base=http://x.example/&network=wifi",
      "text/html",
      "<img src=a>"
    )
    #expect(page.text.contains(#""url":"http://x.example/a""#))
    let (rss, empty) = ("application/rss+xml", "<rss><channel/></rss>")
    #expect(try post("/v1/resolve", rss, empty).text == "[]\n")
    #expect(try post("/v1/resolve?from=rs", rss, empty).status == 422)
    #expect(try post("/v1/resolve?base=x", rss, empty).status == 422)
    #expect(try post("/v1/resolve?from=atom", rss, empty).status == 400)
    #expect(try post("/v1/resolve", rss, "<rss>").status == 400)
  }

  @Test func `an invalid request gets a problem document with a fitting status`() throws {
    let service = try ServiceRun(["--network=offline"])
    let rows: [([String], Int, String)] = [
      (["/v1/nothing"], 404, "/openapi.json"),
      (["/v1/resolve"], 405, "`/v1/resolve` takes POST, OPTIONS, not `GET`"),
      (["/v1/network", "-X", "DELETE"], 405, "`/v1/network` takes GET, HEAD, OPTIONS, not `DELETE`"),
      (["/v1/network", "-X", "PROPFIND"], 405, "not `PROPFIND`"),
      (["/v1/resolve", "-d", "{}"], 415, "found `application/x-www-form-urlencoded`"),
      (["/v1/resolve", "--json", "{"], 400, "line 1, column 2"),
      (["/v1/resolve", "--json", "{}"], 422, "an item needs `originalImage`"),
      (["/v1/resolve", "--json", ""], 422, "expected an item"),
      (["/v1/resolve", "-H", "Content-Type: text/html", "-d", "<p><img src=a>"], 400, "add `from=html`"),
      (["/v1/resolve", "--json", #"{"originalImage":"file:///etc/passwd"}"#], 422, "originalImage"),
      (["/v1/image"], 400, "`item=`"),
      (["/v1/image?item=%7B"], 400, "`item`: line 1"),
      (["/v1/image?item=%zz"], 400, "UTF-8"),
      (["/v1/image?item=%7B%7D"], 422, "an item needs `originalImage`"),
      (["/v1/image", "--json", "[\(Self.item),\(Self.item)]"], 422, "expected one item, found 2"),
      (["/v1/image", "--json", Self.item, "-H", "Feedimg-Load: a b"], 400, "letters and digits"),
      (["/v1/priority", "-X", "POST", "-H", "Priority: u=1"], 400, "as `Feedimg-Load`"),
      (["/v1/priority", "-X", "POST", "-H", "Feedimg-Load;"], 400, "letters and digits"),
      (["/v1/priority"], 405, "`/v1/priority` takes POST, OPTIONS, not `GET`"),
      (["/v1/image", "--json", Self.item], 404, "only the placeholder can be shown"),
      (["/v1/resolve?network=lan", "--json", Self.item], 422, "`network=`: network has no value `lan`"),
      (["/v1/resolve?set=x", "--json", Self.item], 422, "such as `always-original=yes`, found `x`"),
      (["/v1/resolve?policy=defaul", "--json", Self.item], 422, "did you mean `default`?"),
      (["/v1/image?policy=/etc/passwd", "--json", Self.item], 422, "there is no policy `/etc/passwd`"),
      (["/v1/policy?name=../default.md"], 404, "there is no policy `../default.md`"),
      (["/v1/cache?images=-1"], 400, "from 0 to 1000"),
      (["/v1/image?item=%7B%7D&width=0"], 422, "an item needs"),
      (["/v1/image?width=0", "--json", Self.item], 400, "`width` takes a number from 1"),
      (["/v1/prefetch"], 405, "`/v1/prefetch` takes POST, OPTIONS, not `GET`"),
      (["/v1/prefetch", "--json", ""], 422, "expected an item, found none"),
      (["/v1/image", "--json", "[]"], 422, "expected one item, found 0"),
      (["/v1/prefetch?limit=many", "--json", Self.item], 422, "`limit=`: expected a size"),
      (["/v1/prefetch?wait=1", "--json", Self.item], 422, "expected `yes` or `no`"),
      (["/v1/prefetch/none", "-X", "DELETE"], 404, "no prefetch `none` is running"),
      (["/v1/prefetch/a/b", "-X", "DELETE"], 404, "no route"),
      (["/v1/cache/pins", "-X", "POST"], 400, "as `url=`"),
      (["/v1/cache/pins?url=file:///a", "-X", "POST"], 403, "expected http or https"),
      (["/v1/cache/pins?url=http://x.example/a", "-X", "POST"], 404, "is not in the cache"),
      (["/v1/cache/pins?url=http://x.example/a", "-X", "DELETE"], 404, "is not in the cache"),
      (["/v1/usage?days=0"], 400, "from 1 to 3660"),
      (["/v1/settings", "-X", "PATCH", "--json", #"{"no":1}"#], 422, "unknown setting `no`"),
      (["/v1/settings", "-X", "PATCH", "--json", "[]"], 422, "an array"),
    ]
    for (arguments, status, words) in rows {
      let response = try service.request(arguments)
      let problem = try CurlResponse(of: response)
      #expect(problem.status == status, "\(arguments)")
      #expect(problem["Content-Type"] == "application/problem+json", "\(arguments)")
      #expect(problem.object["status"] == .integer(status), "\(arguments)")
      #expect(problem.object["detail"]?.text?.contains(words) == true, "\(arguments): \(problem.text)")
      #expect((problem["Allow"] != nil) == (status == 405), "\(arguments)")
    }
  }

  @Test func `the cache route lists as many images as the client asks for`() throws {
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let service = try ServiceRun(["--network=wifi"])
    for path in ["/a.jpg", "/b.jpg"] {
      _ = try service.curl("/v1/image", "--json", #"{"originalImage":"\#(origin.url(path))"}"#)
    }
    for count in 0...3 {
      guard case .array(let images)? = try service.curl("/v1/cache?images=\(count)").object["images"] else {
        Issue.record("no images")
        return
      }
      #expect(images.count == min(count, 2))
    }
  }

  @Test func `the network route returns the actual network, beside a simulated one`() throws {
    let live = try ServiceRun().curl("/v1/network").object
    #expect(live["kind"]?.text != nil && live["simulated"] == nil)
    let simulated = try ServiceRun(["--network=cellular", "--set=always-original=yes"])
      .curl("/v1/network").object
    #expect(simulated["kind"] == live["kind"])
    #expect(simulated["simulated"] == ["network": "cellular", "always-original": "yes"])
  }

  @Test func `settings change all together or not at all`() throws {
    let service = try ServiceRun()
    func change(_ patch: String) throws -> CurlResponse {
      try service.curl(
        "/v1/settings",
        "-X",
        "PATCH",
        "-H",
        "Content-Type: application/merge-patch+json",
        "-d",
        patch
      )
    }
    let changed = try change(
      #"{"cache-expiry-days":9.0,"always-load-originals-on-cellular":true,"cache-memory-limit":"65 MiB"}"#
    )
    #expect(changed.status == 200)
    let before = try service.curl("/v1/settings").object
    #expect(before == changed.object)
    #expect(before["cache-expiry-days"] == 9)
    #expect(before["always-load-originals-on-cellular"] == true)
    #expect(before["cache-memory-limit"] == "65 MiB")

    #expect(try change(#"{"cache-expiry-days":3,"download-limit":"many"}"#).status == 422)
    #expect(try service.curl("/v1/settings").object == before)
    #expect(try change(#"{"cache-expiry-days":null}"#).object["cache-expiry-days"] == 7)
  }

  @Test func `HEAD returns the same fields as GET`() throws {
    let service = try ServiceRun()
    for target in ["/v1/network", "/v1/cache", "/v1/usage", "/healthz", "/openapi.json", "/v1/nothing"] {
      let (whole, head) = (try service.curl(target), try service.curl(target, "--head"))
      #expect(head.status == whole.status && head.body.isEmpty)
      #expect(head["Content-Length"] == whole["Content-Length"])
      #expect(head["Content-Type"] == whole["Content-Type"])
    }
    #expect(try service.curl("/v1/events", "--head")["Content-Type"] == "text/event-stream")
  }

  @Test func `each path lists its methods`() throws {
    let response = try ServiceRun().curl("/v1/settings", "-X", "OPTIONS")
    #expect((response.status, response["Allow"]) == (204, "GET, HEAD, PATCH, OPTIONS"))
  }

  @Test func `the description names every route and its methods`() throws {
    let service = try ServiceRun(["--gateway=pictures"])
    let description = try service.curl("/openapi.json").object
    guard case .object(let paths)? = description["paths"] else {
      Issue.record("no paths")
      return
    }
    for path in paths.members {
      guard case .object(let methods) = path.value else { continue }
      let allow =
        try service.curl("--globoff", "http://localhost\(path.name)", "-X", "OPTIONS")["Allow"] ?? ""
      let described = methods.members.map { $0.name.uppercased() }
      #expect(
        Set(described + ["OPTIONS"]) == Set(allow.split(separator: ", ").map(String.init)),
        "\(path.name)"
      )
    }
    #expect(paths.members.count == 23)
  }

  @Test func `the description allows every installed policy and every fact`() throws {
    let response = try ServiceRun().curl("/openapi.json")
    guard case .object(let components)? = response.object["components"],
      case .object(let parameters)? = components["parameters"],
      case .object(let policy)? = parameters["policy"],
      case .object(let fact)? = parameters["set"]
    else {
      Issue.record("no parameters")
      return
    }
    #expect(policy["schema"] == ["type": "string"])
    #expect(fact["schema"] == ["type": "array", "items": ["type": "string"]])
    for name in ["policy", "set"] {
      #expect(response.text.ranges(of: "#/components/parameters/\(name)\"").count == 5)
    }
  }

  @Test func `the description names the format and the address of a feed where the body may be one`() throws {
    let service = try ServiceRun(["--network=offline"])
    let feed = #"<rss><channel><item><enclosure type="image/png" url="/a"/></item></channel></rss>"#
    let routes = [("/v1/resolve", 200), ("/v1/image", 404), ("/v1/prefetch", 200)]
    for (path, status) in routes {
      let target = "\(path)?from=rss&base=http://x.example/"
      let response = try service.curl(target, "-H", "Content-Type: text/xml", "--data-binary", feed)
      #expect(response.status == status, "\(path): \(response.text)")
    }
    let text = try service.curl("/openapi.json").text
    for name in ["from", "base"] {
      #expect(text.ranges(of: "#/components/parameters/\(name)\"").count == routes.count)
    }
  }

  @Test func `the description names every setting that a client can change`() throws {
    let service = try ServiceRun()
    guard case .object(let components)? = try service.curl("/openapi.json").object["components"],
      case .object(let schemas)? = components["schemas"],
      case .object(let patch)? = schemas["SettingsPatch"],
      case .object(let described)? = patch["properties"]
    else {
      Issue.record("no schema of a change")
      return
    }
    let settings = try service.curl("/v1/settings").object.members.map(\.name)
    #expect(settings.sorted() == described.members.map(\.name).sorted())
  }
}
