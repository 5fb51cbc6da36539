import FeedimgJSON
import LoopbackServer
import Testing

/// Header fields of clients that `--forward-header` lets through.
@Suite(.timeLimit(.minutes(10))) struct ForwardedHeaderTests {
  private static let kept = [("Cache-Control", "max-age=600"), ("Content-Type", "image/png")]

  private func service(_ names: String..., arguments: [String] = []) throws -> ServiceRun {
    try ServiceRun(["--network=wifi"] + names.map { "--forward-header=\($0)" } + arguments)
  }

  private func load(_ service: ServiceRun, _ urls: [String], _ fields: String...) throws -> CurlResponse {
    let (original, thumbnail) = (urls.first ?? "", urls.last ?? "")
    let item = #"{"originalImage":"\#(original)","thumbnailImage":"\#(thumbnail)"}"#
    let arguments = ["-G", "/v1/image", "--data-urlencode", "item=\(item)"]
    return try CurlResponse(of: try service.request(arguments + fields.flatMap { ["-H", $0] }))
  }

  @Test func `a named field goes to the server, and other fields and other origins get nothing`() throws {
    let target = try LoopbackServer { _ in .response(200, Self.kept, body: SampleImage.png) }
    let url = target.url("/b.png")
    let server = try LoopbackServer { _ in .redirect(to: url) }
    let response = try load(try service("X-Key"), [server.url("/a.png")], "x-key: 1", "X-Other: 1")
    #expect(response.body == SampleImage.png)
    #expect(server.log.requests.map { $0["X-Key"] } == ["1"])
    #expect(server.log.requests.map { $0["X-Other"] } == [nil])
    #expect(target.log.requests.map { $0["X-Key"] } == [nil])
  }

  @Test func `an item with images of two origins is refused`() throws {
    let server = try LoopbackServer { _ in .response(200, Self.kept, body: SampleImage.png) }
    let other = try LoopbackServer { _ in .response(200, Self.kept, body: SampleImage.png) }
    let (service, urls) = (try service("X-Key"), [server.url("/a.png"), other.url("/b.png")])
    let refused = try load(service, urls, "X-Key: secret")
    #expect(refused.status == 422 && !refused.text.contains("secret"))
    #expect(refused.object["detail"]?.text?.contains("`X-Key` goes to one origin only") == true)
    #expect(try load(service, urls).status == 200)
  }

  @Test func `clients with other credentials never share an image, in memory either`() throws {
    let server = try LoopbackServer { request in
      guard let user = request["Authorization"] else { return .response(401) }
      return .response(200, Self.kept, body: user == "ann" ? SampleImage.png : SampleImage.gif)
    }
    let (service, url) = (try service("Authorization"), [server.url("/a.png")])
    for _ in 0..<2 {
      #expect(try load(service, url).status == 502)
      #expect(try load(service, url, "Authorization: ann").body == SampleImage.png)
      #expect(try load(service, url, "Authorization: bob").body == SampleImage.gif)
    }
    #expect(server.log.requests.count == 3)
  }

  @Test(arguments: [401, 403, 404])
  func `a refusal without a named field does not hold for clients that send it`(_ status: Int) throws {
    let server = try LoopbackServer { request in
      request["X-Key"] == "1" ? .response(200, Self.kept, body: SampleImage.png) : .response(status)
    }
    let (service, url) = (try service("X-Key"), [server.url("/a.png")])
    for _ in 0..<2 { #expect(try load(service, url).status == 502) }
    #expect(try load(service, url, "X-Key: 2").status == 502)
    #expect(try load(service, url, "X-Key: 1").body == SampleImage.png)
    #expect(server.log.requests.map { $0["X-Key"] } == [nil, "2", "1"])
  }

  @Test(arguments: [true, false])
  func `images that were requested with other values are kept apart`(_ variesByField: Bool) throws {
    let server = try LoopbackServer { request in
      .response(
        200,
        Self.kept + (variesByField ? [("Vary", "X-Size")] : []),
        body: request["X-Size"] == "1" ? SampleImage.png : SampleImage.gif
      )
    }
    let (service, url) = (try service("X-Size"), [server.url("/a.png")])
    for _ in 0..<2 {
      #expect(try load(service, url, "X-Size: 1").body == SampleImage.png)
      #expect(try load(service, url).body == SampleImage.gif)
    }
    #expect(server.log.requests.count == 2)
  }

  @Test func `the token of the service goes to no server`() throws {
    let server = try LoopbackServer { _ in .response(200, Self.kept, body: SampleImage.png) }
    let service = try service("Authorization", "Cookie", arguments: ["--port=0", "--no-token"])
    let port = try #require(service.port)
    let item = #"{"originalImage":"\#(server.url("/a.png"))"}"#
    let run = try CurlRun([
      "http://localhost:\(port)/v1/image", "--json", item, "-H", "Authorization: Bearer t", "-H",
      "Cookie: a=b",
    ])
    #expect(try CurlResponse(of: run).body == SampleImage.png)
    #expect(server.log.requests.map { $0["Authorization"] } == [nil])
    #expect(server.log.requests.map { $0["Cookie"] } == [nil])
  }

  @Test(arguments: ["Range", "Host", "Priority", "Feedimg-Load", "a b", ""])
  func `a field of feedimg or an invalid name is refused at the start`(_ name: String) throws {
    let failure = #expect(throws: RunFailure.self) { try service(name) }
    #expect(failure?.message.contains("--forward-header: ") == true)
  }
}
