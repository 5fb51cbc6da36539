import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// What showing a cached image causes, with a real server, a real disk and a manual clock.
@Suite(.timeLimit(.minutes(10))) struct RevalidationTests {
  let clock = TestClock()
  static let old = SampleImage.jpeg
  static let new = SampleImage.png

  private func loader(
    _ kind: NetworkKind = .wifi,
    memory: Int = 1,
    folder: String? = nil,
    time: MonotonicTime = .system()
  ) throws -> TestLoader {
    try TestLoader(
      kind,
      memoryLimit: .mebibytes(memory),
      folder: folder,
      clock: { [clock] in clock.now },
      time: time
    )
  }

  private func item(_ origin: PictureOrigin) throws -> FeedItem {
    try TestLoader.item(origin.server, original: "/a.jpg")
  }

  // MARK: When showing asks

  struct Row: Sendable, CustomTestStringConvertible {
    var fields: [(String, String)]
    var after: Double
    var asks: Bool
    var because: String
    var testDescription: String { because }
  }

  static let rows = [
    Row(fields: [("Cache-Control", "max-age=60")], after: 59, asks: false, because: "it is fresh"),
    Row(fields: [("Cache-Control", "max-age=60")], after: 61, asks: true, because: "its lifetime is over"),
    Row(
      fields: [("Cache-Control", "max-age=60, immutable")],
      after: 61,
      asks: true,
      because: "no longer fresh"
    ),
    Row(
      fields: [("Cache-Control", "no-cache")],
      after: 20,
      asks: true,
      because: "it must be revalidated on each use"
    ),
    Row(
      fields: [("Cache-Control", "max-age=60, stale-while-revalidate=600")],
      after: 70,
      asks: true,
      because: "it may be shown during revalidation"
    ),
    Row(
      fields: [("Cache-Control", "max-age=60, must-revalidate")],
      after: 61,
      asks: true,
      because: "a stale image is shown by feedimg's promise, and revalidated"
    ),
    Row(fields: [], after: 20, asks: true, because: "its host sent no freshness information"),
    Row(
      fields: [("Age", "50"), ("Cache-Control", "max-age=60")],
      after: 11,
      asks: true,
      because: "it was old when it arrived"
    ),
    Row(fields: [("Cache-Control", "no-cache")], after: 5, asks: false, because: "it has just arrived"),
    Row(
      fields: [("Cache-Control", "max-age=60")],
      after: -1_000_000,
      asks: false,
      because: "a clock that was set back makes nothing older"
    ),
  ]

  @Test(arguments: rows)
  func `a cached image is shown at once, and revalidated if it may be stale`(row: Row) async throws {
    let origin = try PictureOrigin(Self.old, row.fields + [("ETag", "\"1\"")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += row.after
    let gate = Gate()
    origin.respond(always: .held(by: gate))
    let image = try await test.loader.load(item(origin))
    #expect(image.source == .memory)
    #expect(image.bytes == Self.old)
    #expect(image.freshness?.isRevalidating == row.asks, "\(image.freshness?.rule ?? "")")
    gate.open()
    _ = await test.loader.revalidation(of: image)
    #expect(origin.requests.count == (row.asks ? 2 : 1))
  }

  // MARK: What comes of it

  @Test func `an unchanged image stays and is fresh again, also for other processes`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let test = try loader()
    let first = try await test.loader.load(item(origin))
    clock += 100
    let image = try await test.loader.load(item(origin))
    #expect(await test.loader.revalidation(of: image) == .unchanged)
    #expect(origin.requests.last?["If-None-Match"] == "\"1\"")
    clock += 50
    let other = try loader(folder: test.folder)
    for loader in [test.loader, other.loader] {
      let again = try await loader.load(item(origin))
      #expect(again.freshness?.isFresh == true)
      #expect(again.freshness?.age == 50)
      #expect(again.path == first.path)
    }
    #expect(origin.requests.count == 2)
  }

  @Test func `a new version replaces the old one, in memory and on disk`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    origin.version = .init(Self.new, [("ETag", "\"2\""), ("Cache-Control", "max-age=60")])
    let image = try await test.loader.load(item(origin))
    #expect(image.bytes == Self.old)
    guard case .changed(let changed) = await test.loader.revalidation(of: image) else {
      Issue.record("no new version")
      return
    }
    #expect(changed.bytes == Self.new)
    #expect(changed.mediaType == "image/png")
    #expect(changed.freshness?.isFresh == true)
    guard case .changed(let late) = await test.loader.revalidation(of: image) else {
      Issue.record("a late subscriber gets no report")
      return
    }
    #expect(late.bytes == Self.new && late.path == changed.path)
    #expect(try await test.loader.load(item(origin)).bytes == Self.new)
    let other = try loader(folder: test.folder)
    let stored = try await other.loader.load(item(origin))
    #expect(stored.source == .disk && stored.bytes == Self.new && stored.path == changed.path)
  }

  @Test func `a slot without pixels shows the new version of a stale image on the disk`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let before = try loader()
    _ = try await before.loader.load(item(origin))
    clock += 100
    origin.version = .init(Self.new, [("ETag", "\"2\""), ("Cache-Control", "max-age=60")])
    // Its memory is empty.
    let test = try loader(folder: before.folder)
    let slot = test.loader.slot()
    slot.show(try item(origin))
    #expect(await slot.first { $0.image?.bytes == Self.new }?.shown == .original)
    withExtendedLifetime(before) {}
  }

  @Test func `the result is reported although the network turned out to be metered`()
    async throws
  {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let before = try loader()
    _ = try await before.loader.load(item(origin))
    clock += 100
    let gate = Gate()
    let fields = [("Content-Type", "image/png"), ("ETag", "\"2\"")]
    origin.respond(always: .held(by: gate, then: .response(200, fields, body: Self.new)))
    let test = try loader(folder: before.folder)
    test.network.turnOutMetered(.wifi)
    let image = try await test.loader.load(item(origin))
    let told = RecordedValues<Revalidation>()
    let asking = Task { told.add(await test.loader.revalidation(of: image)) }
    while test.loader.resources.loads.revalidator.coalescer.count(of: image.revalidation ?? "") == 0 {
      await Task.yield()
    }
    gate.open()
    await asking.value
    guard case .changed(let changed) = told.all.first else {
      Issue.record("no new version: \(told.all)")
      return
    }
    #expect(changed.bytes == Self.new && changed.freshness?.isRevalidating == false)
    #expect(origin.requests.last?["Save-Data"] == "on")
  }

  @Test(arguments: [
    (Reply.response(404), "a server that no longer has it"), (.response(503), "a server error"),
    (.hangUp, "a server that closes the connection"),
    (.truncated(SampleImage.png, after: 20), "an interrupted image"),
    (
      .response(200, [("Content-Type", "text/html")], body: Array("<!doctype html><p>log in".utf8)),
      "a portal"
    ),
  ])
  func `a failed revalidation keeps the image and is not retried at once`(
    _ reply: Reply,
    _ because: String
  ) async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let time = ManualTime()
    let test = try loader(time: time.time)
    _ = try await test.loader.load(item(origin))
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate, then: reply))
    let image = try await test.loader.load(item(origin))
    let asking = Task { await test.loader.revalidation(of: image) }
    while test.loader.resources.loads.revalidator.coalescer.count(of: image.variant.url.key) == 0 {
      await Task.yield()
    }
    gate.open()
    guard case .failed = await asking.value else {
      Issue.record("\(because) is not a failure")
      return
    }
    // The task in the background may end after its callers have the result.
    await test.loader.resources.loads.revalidator.idle()
    clock += 20
    time.pass(.seconds(20))
    for _ in 0..<5 {
      let again = try await test.loader.load(item(origin))
      #expect(again.bytes == Self.old && again.freshness?.isRevalidating == false)
    }
    // A missing image is remembered for five minutes.
    clock += 300
    time.pass(.seconds(300))
    origin.respond(always: nil)
    let later = try await test.loader.load(item(origin))
    #expect(await test.loader.revalidation(of: later) == .unchanged)
  }

  @Test(arguments: [304, 200])
  func `a no-store response deletes the stored image`(status: Int) async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    let tag = status == 304 ? "\"1\"" : "\"2\""
    origin.version = .init(Self.new, [("ETag", tag), ("Cache-Control", "no-store")])
    let image = try await test.loader.load(item(origin))
    #expect(image.bytes == Self.old)
    let news = await test.loader.revalidation(of: image)
    if status == 200 {
      if case .changed(let new) = news { #expect(new.bytes == Self.new && new.path == nil) }
    }
    #expect(try test.loader.resolve(item(origin)).situation.original == .remote)
  }

  @Test func `a 304 for an unknown version causes a full request`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    let server = try LoopbackServer { request in
      request["If-None-Match"] == nil
        ? .response(200, [("ETag", "\"2\"")], body: Self.new)
        : Reply([.send(Reply.head(304, [("ETag", "\"2\"")]))], keepsConnection: true)
    }
    let original = try #require(try item(origin).original)
    let stored = try #require(await test.loader.cached(original))
    let url = try ImageURL(server.url("/a.jpg"))
    let revalidation = RevalidationRequest(
      resources: test.loader.resources,
      variant: ImageVariant(role: .original, url: url),
      key: url.key,
      identity: test.loader.identity,
      shown: stored,
      isReload: false
    )
    let caller = Revalidator.Requests.Caller(LoadHandle(.near))
    let revalidator = test.loader.resources.loads.revalidator
    let outcome = await revalidator.outcome(revalidation.loadKey, of: url, caller) { load in
      await revalidation.perform(load, since: nil, while: { true })
    }
    guard case .finished(let new, _) = outcome else {
      Issue.record("no response")
      return
    }
    #expect(new?.bytes == Self.new)
    #expect(server.log.requests.map { $0["If-None-Match"] } == ["\"1\"", nil])
  }

  @Test func `without validators the image is sent again, and an equal one is not a new version`()
    async throws
  {
    let origin = try PictureOrigin(Self.old)
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    let image = try await test.loader.load(item(origin))
    #expect(image.freshness?.state == "unspecified")
    #expect(await test.loader.revalidation(of: image) == .unchanged)
    #expect(origin.requests.count == 2)
  }
}
