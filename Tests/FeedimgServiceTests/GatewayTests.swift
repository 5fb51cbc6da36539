import FeedimgJSON
import FoundationEssentials
import Glibc
import LoopbackServer
import Testing

/// `feedimg serve --gateway`, with a real server behind it.
@Suite(.timeLimit(.minutes(10))) struct GatewayTests {
  private static let json = ("Content-Type", "application/json; charset=utf-8")

  /// A server with one status, whose pictures it also has.
  private static func instance() throws -> LoopbackServer {
    try LoopbackServer { request in
      let base = "http://\(request["Host"] ?? "")"
      switch request.path {
      case "/big.png", "/small.png", "/face.png": return picture(request)
      case "/api/v1/timelines/home":
        let link = "<\(base)/api/v1/timelines/home?max_id=1>; rel=\"next\""
        let fields = [json, ("Link", link), ("ETag", "W/\"v1\""), ("X-RateLimit-Limit", "300")]
        guard request["If-None-Match"] != "W/\"v1\"" else { return .response(304, fields) }
        return .response(200, fields, body: Array(status(base).utf8))
      case "/moved": return .redirect(to: "\(base)/there")
      case "/api/v1/echo":
        let fields = [
          ("Content-Type", "text/plain"), ("X-Method", request.method), ("X-Target", request.target),
          ("X-Authorization", request["Authorization"] ?? "none"), ("X-Hop", request["X-Hop"] ?? "none"),
          ("X-Type", request["Content-Type"] ?? "none"), ("Connection", "X-Own"), ("X-Own", "1"),
          ("X-Cookie", request["Cookie"] ?? "none"), ("Set-Cookie", "a=b"), ("Clear-Site-Data", "\"*\""),
          ("Alt-Svc", "h3=\":443\""),
        ]
        return .response(202, fields, body: request.body)
      case "/api/v1/html": return .response(500, [("Content-Type", "text/html")], body: Array("<p>".utf8))
      case "/api/v1/notjson": return .response(200, [json], body: Array("<p>oops</p>".utf8))
      case "/api/v1/cut": return .truncated(Array(status(base).utf8), after: 40, [json])
      case "/api/v1/long":
        let filler = String(repeating: "x", count: 9 << 20)
        return .response(200, [json], body: Array(#"{"x":"\#(filler)","s":\#(status(base))}"#.utf8))
      case "/film.mp4":
        let head = Reply.head(200, [("Content-Type", "video/mp4"), ("Content-Length", "99999999999")])
        return Reply([.send(head)], keepsConnection: true)
      default: return .response(404, [json], body: Array("{}".utf8))
      }
    }
  }

  private static func picture(_ request: Request) -> Reply {
    let body = request.path == "/big.png" ? SampleImage.jpeg : SampleImage.png
    return .response(200, [("Cache-Control", "max-age=600"), ("Content-Type", "image/png")], body: body)
  }

  private static func status(_ base: String) -> String {
    """
    {"id":"12345678901234567890","account":{"acct":"a","avatar":"\(base)/face.png","header":""},\
    "media_attachments":[{"type":"image","url":"\(base)/big.png","preview_url":"\(base)/small.png"},\
    {"type":"video","url":"\(base)/film.mp4","preview_url":"\(base)/small.png"}],\
    "emojis":[{"shortcode":"x","url":"\(base)/face.png","static_url":"\(base)/face.png"}],\
    "card":{"url":"https://page.example/","provider_name":"p","image":"\(base)/small.png"},"score":1.50}
    """
  }

  private func service(_ origin: String, network: String = "wifi") throws -> ServiceRun {
    try ServiceRun(["--network=\(network)", "--port=0", "--gateway=\(origin)"])
  }

  private func ask(_ service: ServiceRun, _ target: String, _ arguments: String...) throws -> CurlResponse {
    let port = try #require(service.port)
    let url = target.hasPrefix("http") ? target : "http://127.0.0.1:\(port)\(target)"
    return try CurlResponse(of: try CurlRun([url, "--path-as-is"] + arguments))
  }

  /// The URLs of an entity in the status.
  private func text(_ response: CurlResponse, _ path: [String]) throws -> String {
    var value = JSONValue.object(response.object)
    for name in path {
      switch value {
      case .object(let object): value = try #require(object[name])
      case .array(let elements): value = elements[try #require(Int(name))]
      default: throw RunFailure("no \(name)")
      }
    }
    return try #require(value.text)
  }

  @Test func `pictures of a timeline load through the service, and the rest stays`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))", network: "cellular")
    let timeline = try ask(service, "/api/v1/timelines/home?limit=2", "-H", "Authorization: Bearer secret")
    let base = "http://127.0.0.1:\(try #require(service.port))"
    #expect(timeline.status == 200)
    #expect(timeline["Link"] == "<\(base)/api/v1/timelines/home?max_id=1>; rel=\"next\"")
    #expect(timeline["X-RateLimit-Limit"] == "300")
    #expect(timeline["Content-Length"] == String(timeline.body.count))
    #expect(timeline.text.contains(#""id":"12345678901234567890""#) && timeline.text.contains("1.50"))
    #expect(!timeline.text.contains("secret"))
    #expect(try text(timeline, ["media_attachments", "1", "url"]) == server.url("/film.mp4"))
    #expect(try text(timeline, ["card", "url"]) == "https://page.example/")
    let preview = try text(timeline, ["media_attachments", "0", "preview_url"])
    #expect(preview.hasPrefix("\(base)/g/s/") && preview.hasSuffix(".png"))
    #expect(try ask(service, preview)["Feedimg-Image"] == "thumbnail")
    #expect(server.log.count(of: "/big.png") == 0)
    // The client asks for this address when its user taps.
    let original = try ask(service, try text(timeline, ["media_attachments", "0", "url"]))
    #expect(original["Feedimg-Image"] == "original" && original.body == SampleImage.jpeg)
    for path in [
      ["account", "avatar"], ["emojis", "0", "static_url"], ["card", "image"],
      ["media_attachments", "1", "preview_url"],
    ] {
      let response = try ask(service, try text(timeline, path), "-H", "Sec-Fetch-Site: cross-site")
      #expect((response.status, response["Feedimg-Image"]) == (200, "thumbnail"), "\(path)")
    }
    #expect(server.log.count(of: "/face.png") == 1)
    let pictures = server.log.requests.filter { $0.path.hasSuffix(".png") }
    #expect(pictures.allSatisfy { $0["Authorization"] == nil })
  }

  @Test func `the policy chooses for clients that show the original of each picture`() throws {
    let server = try Self.instance()
    for network in ["wifi", "cellular"] {
      let service = try service("mastodon=\(server.url(""))", network: network)
      let timeline = try ask(service, "/api/v1/timelines/home", "-A", "toot/0.52.1")
      let image = try ask(service, try text(timeline, ["media_attachments", "0", "url"]))
      #expect(image["Feedimg-Image"] == (network == "wifi" ? "original" : "thumbnail"))
    }
    #expect(server.log.count(of: "/big.png") == 1 && server.log.count(of: "/small.png") == 1)
  }

  @Test func `methods, bodies, queries and fields pass through`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))/")
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
      let response = try ask(
        service,
        "/api/v1/echo?a=b%2Fc&a=%C3%A4+d",
        "-X",
        method,
        "--data-binary",
        "status=hello",
        "-H",
        "Authorization: Bearer t",
        "-H",
        "X-Hop: 1",
        "-H",
        "Connection: X-Hop"
      )
      #expect((response.status, response.text) == (202, "status=hello"))
      #expect((response["X-Method"], response["X-Target"]) == (method, "/api/v1/echo?a=b%2Fc&a=%C3%A4+d"))
      #expect(
        (response["X-Authorization"], response["X-Hop"], response["X-Own"]) == ("Bearer t", "none", nil)
      )
      #expect(response["X-Type"] == "application/x-www-form-urlencoded")
    }
    let upload = String(repeating: "x", count: 3 << 20)
    let file = "\(service.root)/upload"
    try Data(upload.utf8).write(to: URL(filePath: file))
    let sent = try ask(service, "/api/v1/echo", "-H", "Content-Type:", "--data-binary", "@\(file)")
    #expect((sent.body.count, sent["X-Type"]) == (3 << 20, "none"))
    #expect(try ask(service, "/api/v1/echo", "-X", "POST")["X-Method"] == "POST")
    let port = try #require(service.port)
    #expect(try ask(service, "/moved")["Location"] == "http://127.0.0.1:\(port)/there")
    // The browser signs in at the server itself.
    let sign = try ask(service, "/oauth/authorize?client_id=a%20b")
    #expect((sign.status, sign["Location"]) == (302, server.url("/oauth/authorize?client_id=a%20b")))
    // toot, tooi and mastodon.el end the path with a slash.
    let slash = try ask(service, "/oauth/authorize/?client_id=a")
    #expect((slash.status, slash["Location"]) == (302, server.url("/oauth/authorize/?client_id=a")))
    #expect(server.log.requests.allSatisfy { $0["Host"] == "127.0.0.1:\(server.port)" && $0["Via"] != nil })
  }

  @Test func `HEAD returns the length of a body that is longer than the limit`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    let response = try ask(service, "/film.mp4", "--head")
    #expect((response.status, response["Content-Length"]) == (200, "99999999999"))
    #expect(server.log.requests.map(\.method) == ["HEAD"])
  }

  @Test func `a changed document has a tag of its own, which the server can validate`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    let tag = try #require(try ask(service, "/api/v1/timelines/home")["ETag"])
    #expect(tag.hasPrefix("W/\"v1-") && tag.hasSuffix("\""))
    let again = try ask(service, "/api/v1/timelines/home", "-H", "If-None-Match: \(tag)")
    #expect((again.status, again.body.count, again["ETag"]) == (304, 0, tag))
    #expect(try ask(service, "/api/v1/timelines/home", "-H", "If-None-Match: \"x\"").status == 200)
  }

  @Test func `bad servers give what they say, or a problem, and never half a document`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    let page = try ask(service, "/api/v1/html")
    #expect((page.status, page.text, page["Content-Type"]) == (500, "<p>", "text/html"))
    #expect(try ask(service, "/api/v1/notjson").text == "<p>oops</p>")
    #expect(try ask(service, "/unknown").text == "{}")
    let cut = try ask(service, "/api/v1/cut")
    #expect((cut.status, cut["Content-Type"]) == (502, "application/problem+json"))
    let long = try ask(service, "/api/v1/long")
    #expect(long.status == 200 && long.body.count > 9 << 20 && !long.text.contains("/g/s/"))
    server.stop()
    let down = try ask(service, "/api/v1/html")
    #expect((down.status, down["Content-Type"]) == (502, "application/problem+json"))
  }

  @Test func `only signed addresses and the token open a picture, and a new token revokes them`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    let timeline = try ask(service, "/api/v1/timelines/home")
    let avatar = try text(timeline, ["account", "avatar"])
    func token() throws -> String {
      let path = "\(service.root)/config/feedimg/gateway-token"
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).trimmingSuffix()
    }
    let old = try token()
    #expect(!timeline.text.contains(old))
    #expect(try ask(service, avatar).status == 200)
    // Another picture with the signature of the first.
    let other = Data(server.url("/big.png").utf8).base64EncodedString()
    let parts = avatar.split(separator: "/", omittingEmptySubsequences: false)
    let forged = (parts.dropLast() + ["\(other).png"]).joined(separator: "/")
    #expect(try ask(service, forged).status == 403)
    #expect(try ask(service, "/g/\(old)/\(other)").body == SampleImage.jpeg)
    #expect(try ask(service, "/g/\(old)/fetch?url=\(server.url("/face.png"))").body == SampleImage.png)
    #expect(try ask(service, "/g/\(old)x/\(other)").status == 403)
    #expect(try ask(service, "/g/\(old)/%00").status == 404)
    #expect(try ask(service, "/g/\(old)/\(other)", "-X", "POST").status == 405)
    // The program exits after it has printed the token.
    _ = try? ServiceRun(["--gateway-token=new"], besides: service)
    #expect(try token() != old)
    #expect(try ask(service, avatar).status == 403)
    #expect(try ask(service, "/g/\(old)/\(other)").status == 403)
    #expect(try ask(service, "/g/\(try token())/\(other)").status == 200)
  }

  @Test func `a token that cannot be read or replaced stays valid`() throws {
    let server = try Self.instance()
    let service = try service("pictures")
    let file = "\(service.root)/config/feedimg/gateway-token"
    let token = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self).trimmingSuffix()
    let address = "/g/\(token)/fetch?url=\(server.url("/face.png"))"
    #expect(try ask(service, address).status == 200)
    rename(file, "\(file).away")
    #expect(try ask(service, address).status == 503)
    #expect(!FileManager.default.fileExists(atPath: file))
    // A link to itself, which not even the superuser can open.
    symlink(file, file)
    let unreadable = try ask(service, address)
    #expect(unreadable.status == 503)
    #expect(unreadable.object["detail"]?.text?.hasPrefix("cannot read `\(file)`: ") == true)
    rename("\(file).away", file)
    #expect(try ask(service, address).status == 200)
    // With a folder in place of the lock, no token can be written.
    let lock = "\(service.root)/config/feedimg/.gateway-token.lock"
    unlink(lock)
    mkdir(lock, 0o700)
    _ = try? ServiceRun(["--gateway-token=new"], besides: service)
    #expect(try ask(service, address).status == 200)
  }

  @Test func `the routes of the service still need its token, and pages of other sites get nothing`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    #expect(try ask(service, "/v1/network").status == 401)
    #expect(try ask(service, "/v1/unknown").status == 401)
    #expect(try ask(service, "/metrics").status == 401)
    #expect(try ask(service, "/api/v1/echo", "-H", "Origin: https://evil.example").status == 403)
    #expect(try ask(service, "/api/v1/echo", "-H", "Host: evil.example").status == 403)
    #expect(server.log.requests.isEmpty)
  }

  @Test func `servers get no token of the service, and no cookies pass but those of a reader`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    func token(_ name: String) throws -> String {
      let file = try Data(contentsOf: URL(filePath: "\(service.root)/config/feedimg/\(name)-token"))
      return String(decoding: file, as: UTF8.self).trimmingSuffix()
    }
    let (authorization, cookie) = ("Authorization: Bearer \(try token("service"))", "Cookie: a=b")
    let echo = try ask(service, "/api/v1/echo", "-H", authorization, "-H", cookie)
    #expect((echo.status, echo["X-Authorization"], echo["X-Cookie"]) == (202, "none", "none"))
    let (base, url) = ("/g/\(try token("gateway"))", server.url("/api/v1/echo"))
    // A browser sends the cookies of all programs at 127.0.0.1; a feed reader sends its own.
    let navigation = "Sec-Fetch-Mode: navigate"
    let browsed = try ask(service, "\(base)/feed/\(url)", "-H", authorization, "-H", cookie, "-H", navigation)
    #expect((browsed["X-Authorization"], browsed["X-Cookie"]) == ("none", "none"))
    let read = try ask(service, "\(base)/feed/\(url)", "-H", "Authorization: Basic YTpi", "-H", cookie)
    #expect((read["X-Authorization"], read["X-Cookie"]) == ("Basic YTpi", "a=b"))
    let fetched = try ask(service, "\(base)/fetch?url=\(url)")
    for response in [echo, browsed, read, fetched] {
      #expect(response["X-Method"] == "GET")
      for name in ["Set-Cookie", "Clear-Site-Data", "Alt-Svc"] { #expect(response[name] == nil, "\(name)") }
    }
  }

  @Test func `messages have no characters that control a terminal`() throws {
    let failure = #expect(throws: RunFailure.self) { try service("a\u{9B}b\u{202E}c\u{1B}d") }
    #expect(failure?.message.contains(#"--gateway a\u{9b}b\u{202e}c\u{1b}d"#) == true)
  }

  @Test func `every form of a target needs the token if a route of the service responds to it`() throws {
    let server = try Self.instance()
    let service = try service("mastodon=\(server.url(""))")
    let rows: [(target: String, status: Int, reason: String)] = [
      ("/v1/settings", 401, "origin form"),
      ("http://127.0.0.1/v1/settings", 401, "absolute form (RFC 9112 §3.2.2)"),
      ("https://127.0.0.1/v1/network", 401, "with another scheme"),
      ("HTTP://LOCALHOST/metrics", 401, "in upper case"),
      ("http:///v1/settings", 401, "without a host"),
      ("http://127.0.0.1/v1/unknown", 401, "no route, but the paths of the service"),
      ("/v1/../v1/settings", 401, "dots have no special meaning"),
      ("//v1/settings", 404, "the server has this path"),
      ("/%761/settings", 404, "the server has this path"),
      ("/V1/settings", 404, "the server has this path"),
      ("*", 400, "only OPTIONS has this form"),
      ("127.0.0.1:80", 400, "of a tunnel"),
      ("http://127.0.0.1/", 200, "the page is public"),
    ]
    for (target, status, reason) in rows {
      let response = try ask(service, "/", "--request-target", target)
      #expect(response.status == status, "\(target): \(reason)")
    }
    #expect(try ask(service, "/", "-X", "OPTIONS", "--request-target", "*").status == 401)
    #expect(server.log.requests.count == 3)
  }

  @Test(arguments: ["mastodon=", "mastodon=ftp://x", "mastodon=https://x/path", "mastodon=https://u@x", "x"])
  func `an invalid gateway is refused at the start`(_ value: String) throws {
    let failure = #expect(throws: RunFailure.self) { try service(value) }
    #expect(failure?.message.contains("--gateway") == true)
  }
}

extension String {
  /// The text without its line break.
  fileprivate func trimmingSuffix() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}
