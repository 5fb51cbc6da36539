import FeedimgJSON
import LoopbackServer
import Testing

/// The memory of the service beside servers that send without end.
@Suite(.timeLimit(.minutes(5))) struct PeakMemoryTests {
  /// Responses that never end, and short responses that expand.
  private static let replies: [String: Reply] = [
    "/head": .endlessHead,
    "/fields": .endlessFields,
    "/line": .endlessLine,
    "/interim": Reply([.sendForever(Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8))]),
    "/trailer": .endlessTrailer("a:"),
    "/extension": .endlessExtension,
    "/image": Reply([
      .send(Reply.head(200, [("Content-Type", "image/jpeg")]) + SampleImage.jpeg),
      .sendForever([UInt8](repeating: 0, count: 4096)),
    ]),
    "/page": .endlessBody,
    "/expanding": .response(
      200,
      [("Content-Type", "image/jpeg"), ("Content-Encoding", "gzip")],
      body: Gzip.zeros(40_000_000, after: SampleImage.jpeg)
    ),
  ]

  @Test func `all of them together take less than 256 MB, and a good image still loads`() throws {
    let origins = try (1...4).map { _ in
      try LoopbackServer { Self.replies[$0.path] ?? .response(body: SampleImage.jpeg) }
    }
    let service = try ServiceRun(["--network=wifi"])
    // Four servers send bodies without end, which take the most memory; one does all the rest.
    let urls =
      origins.flatMap { [$0.url("/image"), $0.url("/page")] } + Self.replies.keys.map { origins[0].url($0) }
    let requests = Set(urls).flatMap { url in
      let item = JSONValue.object(JSONObject([("originalImage", .string(url))]))
      return [
        ["/v1/image", "--data-urlencode", "item=\(item.text(.compact))"],
        ["/v1/fetch", "--data-urlencode", "url=\(url)"],
      ]
    }
    let runs = try requests.map { try service.request(["-G", "--max-time", "20"] + $0) }
    for run in runs { _ = run.rest() }
    let item = JSONValue.object(JSONObject([("originalImage", .string(origins[0].url("/good.jpg")))]))
    let good = try service.curl("-G", "/v1/image", "--data-urlencode", "item=\(item.text(.compact))")
    #expect(good.body == SampleImage.jpeg)
    #expect(try service.peakMemory < 256 << 20)
  }
}
