import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Images that are revalidated before they are shown.
@Suite struct RevalidateFirstTests {
  let clock = TestClock()

  private func loader(userAgent: String = "a", folder: String? = nil) throws -> TestLoader {
    try TestLoader(userAgent: userAgent, folder: folder, clock: { [clock] in clock.now })
  }

  private func item(_ origin: PictureOrigin) throws -> FeedItem {
    try TestLoader.item(origin.server, original: "/a.jpg")
  }

  @Test func `an image stored under another selection is revalidated first`() async throws {
    let server = try LoopbackServer { request in
      let fields = [("Vary", "User-Agent"), ("Cache-Control", "max-age=600")]
      return request["User-Agent"] == "a"
        ? .response(200, fields, body: SampleImage.jpeg) : .response(200, fields, body: SampleImage.png)
    }
    let first = try loader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await first.loader.load(item)
    let same = try loader(folder: first.folder)
    #expect(try await same.loader.load(item).source == .disk, "another process with the same cache")
    let other = try loader(userAgent: "b", folder: first.folder)
    let image = try await other.loader.load(item)
    #expect(image.source == .network && image.bytes == SampleImage.png)
    #expect(server.log.requests.count == 2)
  }

  @Test func `a response that confirms the image for another selection counts for ten seconds`() async throws
  {
    let server = try LoopbackServer { request in
      let fields = [("Vary", "User-Agent"), ("Cache-Control", "max-age=600"), ("ETag", "\"1\"")]
      return request["If-None-Match"] == nil
        ? .response(200, fields, body: SampleImage.jpeg)
        : Reply([.send(Reply.head(304, fields))], keepsConnection: true)
    }
    let first = try loader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await first.loader.load(item)
    let other = try loader(userAgent: "b", folder: first.folder)
    for _ in 0..<3 { #expect(try await other.loader.load(item).bytes == SampleImage.jpeg) }
    #expect(server.log.requests.map { $0["User-Agent"] } == ["a", "b"])
  }

  @Test
  func `without a response the stored image is shown with a note and not revalidated again soon`()
    async throws
  {
    let origin = try PictureOrigin(
      SampleImage.jpeg,
      [("Vary", "User-Agent"), ("Cache-Control", "max-age=600")]
    )
    let first = try loader()
    _ = try await first.loader.load(item(origin))
    origin.respond(always: .hangUp)
    let other = try loader(userAgent: "b", folder: first.folder)
    let image = try await other.loader.load(item(origin))
    #expect(image.source == .disk && image.bytes == SampleImage.jpeg)
    #expect(
      image.notes == ["shown without revalidation: the server closed the connection without a response"]
    )
    let count = origin.requests.count
    #expect(try await other.loader.load(item(origin)).notes == [])
    #expect(origin.requests.count == count)
  }

  @Test func `a reload of an uncached image fails with its own message when the server responds 304`()
    async throws
  {
    let downloader = HeldDownloader(
      holding: { _ in false },
      responding: { _ in .init(status: 304, body: []) }
    )
    let test = try TestLoader(downloader: downloader)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.reload(item) }
    #expect(error?.status == 304)
    #expect(
      error?.message == "the server responded with 304 Not Modified to an unconditional request"
    )
    let request = try #require(downloader.requests.all.last)
    #expect(request.fields["If-None-Match"] == nil && request.fields["If-Modified-Since"] == nil)
  }

  @Test func `a response that varies by more than the request is revalidated on every load`()
    async throws
  {
    let origin = try PictureOrigin(
      SampleImage.jpeg,
      [("Vary", "*"), ("ETag", "\"1\""), ("Cache-Control", "max-age=600")]
    )
    let test = try loader()
    for _ in 0..<2 { _ = try await test.loader.load(item(origin)) }
    #expect(origin.requests.count == 1, "nothing has changed yet")
    clock += 20
    origin.version = .init(SampleImage.png, [("ETag", "\"2\"")])
    #expect(try await test.loader.load(item(origin)).bytes == SampleImage.png)
  }

  @Test func `a reload of an uncached image also bypasses intermediate caches`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg)
    _ = try await loader().loader.reload(item(origin))
    #expect(origin.requests.map { $0["Cache-Control"] } == ["no-cache"])
  }

  @Test func `a reload bypasses intermediate caches for a fresh image and stores the new response`()
    async throws
  {
    let origin = try PictureOrigin(SampleImage.jpeg, [("ETag", "\"1\""), ("Cache-Control", "max-age=600")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    let same = try await test.loader.reload(item(origin))
    #expect(same.bytes == SampleImage.jpeg && same.source == .memory)
    #expect(origin.requests.last?["If-None-Match"] == "\"1\"")
    #expect(origin.requests.last?["Cache-Control"] == "no-cache")
    origin.version = .init(SampleImage.png, [("ETag", "\"2\"")])
    let new = try await test.loader.reload(item(origin))
    #expect(new.bytes == SampleImage.png && new.source == .network)
    #expect(try await test.loader.load(item(origin)).bytes == SampleImage.png)
    origin.respond(always: .response(503))
    let kept = try await test.loader.reload(item(origin))
    #expect(kept.bytes == SampleImage.png)
    #expect(kept.notes == ["shown without revalidation: the server responded with 503 Service Unavailable"])
  }

  /// On a slow link, a background revalidation gets no slot while a visible load runs.
  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  func `a load that needs revalidation does not wait for a background slot`(isBeingAsked: Bool) async throws {
    let gate = Gate()
    let picture = Reply.response(
      200,
      [("ETag", "\"1\""), ("Cache-Control", "no-cache")],
      body: SampleImage.jpeg
    )
    let server = try LoopbackServer { $0.path == "/busy" ? .held(by: gate, then: picture) : picture }
    let test = try TestLoader(.cellular, clock: { [clock] in clock.now }, time: ManualTime().time)
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    clock += 100
    let busy = Task { try await test.loader.load(try TestLoader.item(server, original: "/busy")) }
    await server.reaches { $0.requests.count == 2 }
    if isBeingAsked { #expect(try await test.loader.load(item).freshness?.isRevalidating == true) }
    #expect(try await test.loader.reload(item).notes == [])
    #expect(server.log.requests.last?["If-None-Match"] == "\"1\"")
    gate.open()
    _ = try await busy.value
  }

  @Test func `a reload that the network does not allow says so`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg)
    let test = try loader()
    var item = try item(origin)
    item.thumbnail = ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/s.jpg"))
    _ = try await test.loader.load(item)
    test.network.become(.offline)
    let image = try await test.loader.reload(item)
    #expect(image.notes == ["not revalidated: it would not be fetched now (offline)"])
    #expect(origin.requests.count == 1)
  }
}
