import FeedimgSettings
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How often images are revalidated, for which callers, and when not.
@Suite(.timeLimit(.minutes(10))) struct RevalidationPaceTests {
  let clock = TestClock()
  static let old = SampleImage.jpeg
  static let new = SampleImage.png

  private func loader(
    _ kind: NetworkKind = .wifi,
    memory: Int = 1,
    folder: String? = nil
  ) throws -> TestLoader {
    try TestLoader(kind, memoryLimit: .mebibytes(memory), folder: folder, clock: { [clock] in clock.now })
  }

  private func item(_ origin: PictureOrigin) throws -> FeedItem {
    try TestLoader.item(origin.server, original: "/a.jpg")
  }

  /// Returns when the loader knows of the change.
  private func become(_ metered: Metered, _ test: TestLoader) async {
    await test.loader.resources.factMonitor.watch()
    let standing = test.loader.resources.factMonitor.generation
    guard test.network.currentState().metered != metered else { return }
    test.network.become(.wifi, metered: metered)
    while test.loader.resources.factMonitor.generation == standing { await Task.yield() }
  }

  @Test func `concurrent callers of one image share one revalidation`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "no-cache")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate, then: Reply([.send(Reply.head(304, []))], keepsConnection: true)))
    var images: [LoadedImage] = []
    for _ in 0..<20 { images.append(try await test.loader.load(item(origin))) }
    #expect(images.allSatisfy { $0.freshness?.isRevalidating == true })
    gate.open()
    for image in images { #expect(await test.loader.revalidation(of: image) == .unchanged) }
    #expect(origin.requests.count == 2)
    #expect(await test.loader.finishRevalidations(within: .seconds(600)).unchanged == 1)
  }

  @Test func `a revalidation that does not end in time is cancelled and counts as unfinished`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "no-cache")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate))
    #expect(try await test.loader.load(item(origin)).freshness?.isRevalidating == true)
    await origin.server.reaches { $0.requests.count == 2 }
    let summary = await test.loader.finishRevalidations(within: .zero)
    #expect(summary.unfinished == 1 && summary.unchanged == 0 && summary.failures.isEmpty)
    await origin.server.reaches { $0.closedByClient > 0 }
    await test.loader.resources.loads.revalidator.coalescer.drain()
    #expect(await test.loader.finishRevalidations(within: .zero) == RevalidationSummary())
    gate.open()
  }

  @Test func `callers that save data revalidate separately`() async throws {
    let fields = [("ETag", "\"1\""), ("Cache-Control", "no-cache"), ("Vary", "Save-Data")]
    let origin = try PictureOrigin(Self.old, fields)
    let test = try TestLoader(clock: { [clock] in clock.now }, policy: "always-original")
    await become(.no, test)
    _ = try await test.loader.load(item(origin))
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate, then: Reply([.send(Reply.head(304, []))], keepsConnection: true)))
    let rich = try await test.loader.load(item(origin))
    await become(.yes, test)
    let thrifty = try await test.loader.load(item(origin))
    gate.open()
    for image in [rich, thrifty] { #expect(await test.loader.revalidation(of: image) == .unchanged) }
    _ = await test.loader.finishRevalidations(within: .seconds(600))
    #expect(Set(origin.requests.dropFirst().map { $0["Save-Data"] }) == [nil, "on"])
    #expect(origin.requests.count == 3)
  }

  @Test func `a reload joins only loads that also bypass all caches`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "no-cache")])
    let test = try loader()
    let item = try item(origin)
    _ = try await test.loader.load(item)
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate, then: Reply([.send(Reply.head(304, []))], keepsConnection: true)))
    #expect(try await test.loader.load(item).freshness?.isRevalidating == true)
    let reloads = (0..<2).map { _ in Task { try await test.loader.reload(item) } }
    let key = try #require(item.original).url.key
    let keys = [key, test.loader.identity.shared(key, adding: ImageDownload.endToEnd)]
    while keys.map({ test.loader.resources.loads.revalidator.coalescer.count(of: $0) }).reduce(0, +) < 2 {
      await Task.yield()
    }
    gate.open()
    for reload in reloads { #expect(try await reload.value.notes == []) }
    _ = await test.loader.finishRevalidations(within: .seconds(600))
    #expect(Set(origin.requests.dropFirst().map { $0["Cache-Control"] }) == [nil, "no-cache"])
    #expect(origin.requests.count == 3)
  }

  @Test func `the number of concurrent revalidations stays within the prefetch limits`() async throws {
    let gate = Gate()
    let isHeld = Mutex(false)
    let server = try LoopbackServer { request in
      guard request["If-None-Match"] != nil else {
        return .response(200, [("ETag", "\"1\""), ("Cache-Control", "no-cache")], body: Self.old)
      }
      let reply = Reply([.send(Reply.head(304, []))], keepsConnection: true)
      return isHeld.withLock { $0 } ? .held(by: gate, then: reply) : reply
    }
    let test = try loader()
    let items = try (0..<6).map { try TestLoader.item(server, original: "/\($0).jpg") }
    for item in items { _ = try await test.loader.load(item) }
    clock += 100
    isHeld.withLock { $0 = true }
    for item in items { #expect(try await test.loader.load(item).freshness?.isRevalidating == true) }
    await server.reaches { $0.requests.count == 10 }
    gate.open()
    #expect(await test.loader.finishRevalidations(within: .seconds(600)).unchanged == 6)
    #expect(server.log.requests.count == 12)
  }

  @Test(arguments: [503, 429])
  func `no image is revalidated on a server that sent Retry-After`(status: Int) async throws {
    let isBusy = Atomic(false)
    let server = try LoopbackServer { request in
      isBusy.load(ordering: .acquiring)
        ? .response(status, [("Retry-After", "600")])
        : .response(200, [("ETag", "\"1\""), ("Cache-Control", "no-cache")], body: Self.old)
    }
    let test = try loader()
    let items = try (0..<12).map { try TestLoader.item(server, original: "/\($0).jpg") }
    for item in items { _ = try await test.loader.load(item) }
    clock += 100
    isBusy.store(true, ordering: .releasing)
    let busy = try TestLoader.item(server, original: "/busy.jpg")
    await #expect(throws: LoadError.self) { try await test.loader.load(busy) }
    for item in items { #expect(try await test.loader.load(item).bytes == Self.old) }
    #expect(await test.loader.finishRevalidations(within: .seconds(60)).failures.count == 12)
    let notes = try await test.loader.reload(items[0]).notes
    #expect(
      notes.first?.hasPrefix("shown without revalidation: the host failed before; requests resume in ")
        == true
    )
    #expect(server.log.requests.count == 13)
  }

  @Test func `an open circuit does not prolong the revalidation pause of an image`() async throws {
    let isBusy = Atomic(false)
    let server = try LoopbackServer { _ in
      isBusy.load(ordering: .acquiring)
        ? .response(503, [("Retry-After", "60")])
        : .response(200, [("ETag", "\"1\""), ("Cache-Control", "no-cache")], body: Self.old)
    }
    let time = ManualTime()
    let test = try TestLoader(clock: { [clock] in clock.now }, time: time.time)
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    isBusy.store(true, ordering: .releasing)
    for round in 0..<4 {
      clock += 61
      time.pass(.seconds(61))
      let busy = try TestLoader.item(server, original: "/busy\(round).jpg")
      await #expect(throws: LoadError.self) { try await test.loader.load(busy) }
      let image = try await test.loader.load(item)
      #expect(image.freshness?.isRevalidating == true, "\(round)")
      guard case .failed(let error) = await test.loader.revalidation(of: image) else { continue }
      #expect(error.message.hasPrefix("the host failed before; requests resume in "))
      #expect(try await test.loader.load(item).freshness?.isRevalidating == false, "it is paused meanwhile")
    }
    #expect(server.log.requests.count == 5)
  }

  @Test func `a server that refuses several revalidations gets no more requests`() async throws {
    let isWell = Atomic(true)
    let server = try LoopbackServer { _ in
      isWell.load(ordering: .acquiring)
        ? .response(200, [("ETag", "\"1\""), ("Cache-Control", "no-cache")], body: Self.old) : .response(503)
    }
    let test = try TestLoader(clock: { [clock] in clock.now }, time: ManualTime().time)
    let items = try (0..<5).map { try TestLoader.item(server, original: "/\($0).jpg") }
    for item in items { _ = try await test.loader.load(item) }
    clock += 100
    isWell.store(false, ordering: .releasing)
    for item in items { _ = try await test.loader.reload(item) }
    let count = server.log.requests.count
    #expect(count == 10)
    let error = try await test.loader.reload(items[0]).notes.first
    #expect(
      error?.hasPrefix("shown without revalidation: the host failed before; requests resume in ") == true
    )
    #expect(server.log.requests.count == count)
  }

  @Test func `offline, or without permission by the policy, no revalidation is sent`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "no-cache")])
    let test = try loader()
    // The item has a variant on another machine, so that the network counts.
    var item = try item(origin)
    item.thumbnail = ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/s.jpg"))
    _ = try await test.loader.load(item)
    clock += 1000
    for kind in [NetworkKind.offline, .cellular] {
      test.network.become(kind)
      let image = try await test.loader.load(item)
      #expect(image.variant.role == .original)
      #expect(image.freshness?.isFresh == false && image.freshness?.isRevalidating == false)
    }
    #expect(origin.requests.count == 1)
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    #expect(try await test.loader.load(item).freshness?.isRevalidating == true)
    _ = await test.loader.finishRevalidations(within: .seconds(600))
  }

  @Test func `a revalidation ends when the network becomes metered or goes away, and may start again later`()
    async throws
  {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "no-cache")])
    let test = try loader()
    var item = try item(origin)
    // The item has a variant on another machine, so that the network counts.
    item.thumbnail = ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/s.jpg"))
    _ = try await test.loader.load(item)
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate))
    for (round, kind) in [NetworkKind.cellular, .offline].enumerated() {
      let image = try await test.loader.load(item)
      #expect(image.freshness?.isRevalidating == true)
      await origin.server.reaches { $0.requests.count == 2 + round }
      test.network.become(kind)
      guard case .failed(let error) = await test.loader.revalidation(of: image) else {
        Issue.record("it continued on \(kind)")
        continue
      }
      #expect(error.code == .cancelled)
      await origin.server.reaches { $0.closedByClient > round }
      test.network.become(.wifi)
    }
    gate.open()
    origin.respond(always: nil)
    let image = try await test.loader.load(item)
    #expect(await test.loader.revalidation(of: image) == .unchanged)
  }

  @Test func `a revalidation by another process is not repeated`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
    let first = try loader()
    let second = try loader(folder: first.folder)
    _ = try await first.loader.load(item(origin))
    _ = try await second.loader.load(item(origin))
    clock += 100
    origin.version = .init(Self.new, [("ETag", "\"2\""), ("Cache-Control", "max-age=60")])
    let one = try await first.loader.load(item(origin))
    _ = await first.loader.revalidation(of: one)
    let two = try await second.loader.load(item(origin))
    #expect(two.bytes == Self.old, "its memory does not know yet")
    guard case .changed(let new) = await second.loader.revalidation(of: two) else {
      Issue.record("not seen")
      return
    }
    #expect(new.bytes == Self.new)
    #expect(origin.requests.count == 2)
  }

  @Test func `a caller can leave a revalidation, which continues`() async throws {
    let origin = try PictureOrigin(Self.old, [("ETag", "\"1\""), ("Cache-Control", "no-cache")])
    let test = try loader()
    _ = try await test.loader.load(item(origin))
    clock += 100
    let gate = Gate()
    origin.respond(always: .held(by: gate, then: Reply([.send(Reply.head(304, []))], keepsConnection: true)))
    let image = try await test.loader.load(item(origin))
    let waiting = Task { await test.loader.revalidation(of: image) }
    await origin.server.reaches { $0.requests.count == 2 }
    waiting.cancel()
    if case .failed(let error) = await waiting.value { #expect(error.code == .cancelled) }
    gate.open()
    #expect(await test.loader.finishRevalidations(within: .seconds(600)).unchanged == 1)
  }
}
