import FeedimgJSON
import LoopbackServer
import Synchronization
import Testing

@testable import FeedimgPipeline
@testable import FeedimgService

/// `/v1/image` while the image arrives.
@Suite(.timeLimit(.minutes(10))) struct StreamedImageTests {
  private let gate = Gate()
  private let picture = PictureOrigin.picture(1, size: 300_000)

  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate, picture] request in
      switch request.path {
      case "/a.jpg": .stalled(picture, after: 1000, until: gate, [("Content-Type", "image/jpeg")])
      case "/cut.jpg": Reply([.send(Reply.head(200, [("Content-Length", "300000")]) + picture.prefix(2000))])
      case "/page":
        .response(200, [("Content-Type", "text/html")], body: [UInt8](repeating: 0x20, count: 300_000))
      default: .response(404)
      }
    }
  }

  private func request(_ service: ServiceRun, _ url: String, _ arguments: String...) throws -> CurlRun {
    let item = JSONValue.object(JSONObject([("originalImage", .string(url))])).text(.compact)
    return try service.request(["-G", "/v1/image", "--data-urlencode", "item=\(item)"] + arguments)
  }

  @Test func `a long image is forwarded while it arrives, and stored when it is complete`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let first = try request(service, origin.url("/a.jpg"))
    let head = try #require(first.block())
    #expect(head.contains("200 OK"))
    #expect(head.contains("Content-Length: 300000\n"))
    #expect(head.contains("Content-Type: image/jpeg\n"))
    #expect(head.contains("Cache-Status: feedimg; fwd=uri-miss\n"))
    let timing = head.split(separator: "\n").first { $0.hasPrefix("Server-Timing: ") } ?? ""
    let known = ["decide", "cache", "queue", "connect", "wait", "total"]
    #expect(known.allSatisfy { timing.contains("\($0);dur=") } && !timing.contains("receive"))
    #expect(first.take(1000) == Array(picture.prefix(1000)))
    // A later client gets the beginning at once, or a part of it.
    let second = try request(service, origin.url("/a.jpg"))
    #expect(second.block()?.contains("Cache-Status: feedimg; fwd=uri-miss; collapsed\n") == true)
    #expect(second.take(1000) == Array(picture.prefix(1000)))
    let part = try CurlResponse(of: try request(service, origin.url("/a.jpg"), "-H", "Range: bytes=500-999"))
    #expect((part.status, part.body) == (206, Array(picture[500..<1000])))
    #expect(part["Content-Range"] == "bytes 500-999/300000")
    let asked = try CurlResponse(of: try request(service, origin.url("/a.jpg"), "--head"))
    #expect((asked.status, asked["Content-Length"]) == (200, "300000"))
    let beyond = try CurlResponse(
      of: try request(service, origin.url("/a.jpg"), "-H", "Range: bytes=300000-")
    )
    #expect((beyond.status, beyond["Content-Range"]) == (416, "bytes */300000"))

    gate.open()
    #expect(first.rest() == Array(picture.dropFirst(1000)))
    #expect(second.rest() == Array(picture.dropFirst(1000)))
    let warm = try CurlResponse(of: try request(service, origin.url("/a.jpg")))
    #expect(warm.body == picture)
    #expect(warm["Cache-Status"]?.hasSuffix("detail=memory") == true)
    #expect(origin.log.count(of: "/a.jpg") == 1)
  }

  /// Without a length, only the end of the body completes it.
  @Test(arguments: [5, nil])
  func `a body is complete for the client when it is stored`(total: Int?) async {
    let body = ResponseStream()
    Array("image".utf8).withUnsafeBytes { body.append($0, at: 0) }
    body.end()
    let isStored = Atomic(false)
    let stream = BodyStream(
      body: body,
      total: total,
      storage: { isStored.store(true, ordering: .relaxed) },
      leave: {}
    )
    var pieces: [Bool] = []
    let isWhole = await stream.sendPieces { _ in
      pieces.append(isStored.load(ordering: .relaxed))
      return true
    }
    #expect(isWhole && isStored.load(ordering: .relaxed))
    #expect(pieces == [total != nil])
  }

  @Test func `the last client to leave stops the transfer`() async throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let runs = try (0..<2).map { _ in try request(service, origin.url("/a.jpg")) }
    for run in runs { #expect(run.block()?.contains("200 OK") == true) }
    runs[0].hangUp()
    while try !service.curl("/metrics").text.contains("feedimg_connections 2\n") {}
    #expect(origin.log.closedByClient == 0)
    runs[1].hangUp()
    await origin.reaches { $0.closedByClient == 1 }
  }

  @Test func `an interrupted transfer is interrupted for the client too`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let cut = try CurlResponse(of: try request(service, origin.url("/cut.jpg")))
    #expect((cut.status, cut["Content-Length"], cut.body) == (200, "300000", Array(picture.prefix(2000))))
    #expect(try service.curl("/healthz").status == 200)
  }

  @Test func `a response that is not an image becomes a problem document`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    #expect(try CurlResponse(of: try request(service, origin.url("/page"))).status == 502)
  }

  @Test(arguments: [2_000_000, 40_000_000])
  func `a body that expands too much never arrives as a picture`(_ count: Int) throws {
    let body = Gzip.zeros(count, after: SampleImage.jpeg)
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg"), ("Content-Encoding", "gzip")], body: body)
    }
    let service = try ServiceRun(["--network=wifi"])
    for _ in 1...2 {
      // The status with which curl ends follows the body; it is 0 for a complete response.
      let run = try request(service, origin.url("/a.jpg"), "-w", " %{exitcode}")
      let response = try CurlResponse(of: run)
      #expect(response.status >= 400 || response.body.suffix(2) != Array(" 0".utf8))
      #expect(response.body.count < 20_000_000)
    }
  }
}
