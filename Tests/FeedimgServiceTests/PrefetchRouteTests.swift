import FeedimgJSON
import Glibc
import LoopbackServer
import Testing

/// `/v1/prefetch`, read by curl, with a real origin behind the service.
@Suite(.timeLimit(.minutes(10))) struct PrefetchRouteTests {
  private let gate = Gate()

  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate] request in
      let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=60")]
      return switch request.path {
      case "/missing.jpg": .response(404)
      case "/held.jpg":
        .held(by: gate, then: .response(200, fields, body: PictureOrigin.picture(1, size: 90_000)))
      default: .response(200, fields, body: SampleImage.jpeg)
      }
    }
  }

  private func items(_ origin: LoopbackServer, _ paths: String...) -> String {
    let items = paths.map { path in
      JSONValue.object(JSONObject([("id", .string(path)), ("originalImage", .string(origin.url(path)))]))
    }
    return JSONValue.array(items).text(.compact)
  }

  /// The next event; nil at the end.
  private func event(_ run: CurlRun) -> (kind: String, data: JSONObject)? {
    guard let block = run.block() else { return nil }
    let lines = block.split(separator: "\n").map(String.init)
    guard lines.count == 2, lines[0].hasPrefix("event: "), lines[1].hasPrefix("data: "),
      case .object(let data)? = try? JSONReader.value(in: Array(lines[1].dropFirst(6).utf8))
    else { return (block, JSONObject()) }
    return (String(lines[0].dropFirst(7)), data)
  }

  private func rest(_ run: CurlRun) -> [(kind: String, data: JSONObject)] {
    var events: [(kind: String, data: JSONObject)] = []
    while let event = event(run) { events.append(event) }
    return events
  }

  @Test func `the events tell the outcome of each item, and then the images are cached`() throws {
    let (origin, service) = (try origin(), try ServiceRun(["--network=wifi"]))
    let run = try service.request(["/v1/prefetch", "--json", items(origin, "/a.jpg", "/missing.jpg")])
    let head = run.block() ?? ""
    #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("text/event-stream"))
    let events = rest(run)
    #expect(events.map(\.kind) == ["start", "item", "progress", "item", "progress", "end"])
    #expect(events.first?.data["items"] == 2)
    let outcomes = Dictionary(
      events.filter { $0.kind == "item" }.map { ($0.data["id"]?.text ?? "", $0.data["outcome"]) }
    ) { $1 }
    #expect(outcomes == ["/a.jpg": "fetched", "/missing.jpg": "failed"])
    #expect(events.last?.data["fetched"] == 1 && events.last?.data["failed"] == 1)
    let item = #"{"originalImage":"\#(origin.url("/a.jpg"))"}"#
    let image = try service.curl("/v1/image", "--json", item, "-H", "Cache-Control: only-if-cached")
    #expect(image.body == SampleImage.jpeg)
  }

  @Test func `a prefetch without items ends at once`() throws {
    let service = try ServiceRun(["--network=wifi"])
    let run = try service.request(["/v1/prefetch", "--json", "[]"])
    #expect(run.block()?.hasPrefix("HTTP/1.1 200 ") == true)
    let events = rest(run)
    #expect(events.map(\.kind) == ["start", "end"])
    #expect(events.first?.data["items"] == 0)
  }

  @Test func `a prefetch that another client stops ends with an event`() throws {
    let (origin, service) = (try origin(), try ServiceRun(["--network=wifi"]))
    let run = try service.request(["/v1/prefetch", "--json", items(origin, "/held.jpg")])
    _ = run.block()
    let id = try #require(event(run)?.data["id"]?.text)
    #expect(try service.curl("/v1/prefetch/\(id)", "-X", "DELETE").status == 204)
    #expect(rest(run).map(\.kind) == ["stopped"])
    let ended = try service.curl("/v1/prefetch/\(id)", "-X", "DELETE")
    #expect(ended.status == 404 && ended.object["detail"]?.text?.contains("`\(id)`") == true)
  }

  @Test func `a prefetch stops when its client disconnects`() async throws {
    let (origin, service) = (try origin(), try ServiceRun(["--network=wifi"]))
    let run = try service.request(["/v1/prefetch", "--json", items(origin, "/held.jpg")])
    _ = run.block()
    let id = try #require(event(run)?.data["id"]?.text)
    await origin.reaches { $0.requests.count == 1 }
    let events = try service.request(["/v1/events"])
    run.hangUp()
    // The stream of all transfers says when the transfer has ended.
    var hasBegun = false
    while let block = events.block() {
      guard block.contains("event: progress") else { continue }
      if block.contains("/held.jpg") { hasBegun = true } else if hasBegun { break }
      if block.contains("\"count\":0") { break }
    }
    #expect(try service.curl("/v1/prefetch/\(id)", "-X", "DELETE").status == 404)
  }

  @Test func `a service that stops ends its prefetches at once`() throws {
    let (origin, service) = (try origin(), try ServiceRun(["--network=wifi"]))
    let run = try service.request(["/v1/prefetch", "--json", items(origin, "/held.jpg")])
    _ = (run.block(), run.block())
    service.signal(SIGTERM)
    #expect(rest(run).map(\.kind) == ["stopped"])
    #expect(service.end() == 0)
  }

  @Test func `limits, overrides and waiting are those of the library`() throws {
    let (origin, service) = (try origin(), try ServiceRun(["--network=wifi"]))
    let rows: [(query: String, reason: JSONValue)] = [
      ("image-limit=10", "too large"), ("limit=0", "limit reached"), ("network=offline", "offline"),
      ("metered=yes", "data costs"), ("policy=wifi-only&network=cellular", "policy"),
    ]
    for (query, reason) in rows {
      let run = try service.request(["/v1/prefetch?\(query)", "--json", items(origin, "/a.jpg")])
      _ = run.block()
      let item = rest(run).first { $0.kind == "item" }
      #expect(item?.data["reason"] == reason, "\(query): \(item.map { "\($0)" } ?? "no item")")
    }
    let waiting = try service.request([
      "/v1/prefetch?wait=yes&network=offline", "--json", items(origin, "/a.jpg"),
    ])
    _ = waiting.block()
    let id = try #require(event(waiting)?.data["id"]?.text)
    #expect(try service.curl("/v1/prefetch/\(id)", "-X", "DELETE").status == 204)
    #expect(rest(waiting).map(\.kind) == ["stopped"])
  }
}
