import FeedimgSettings
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The loader with real layers: libcurl with a real server, SQLite and files.
@Suite(.timeLimit(.minutes(10))) struct ImageLoaderTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  @Test func `concurrent loads of one URL share one transfer`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    try await withThrowingTaskGroup(of: LoadedImage.self) { group in
      for _ in 0..<50 { group.addTask { try await test.loader.load(item) } }
      await server.reaches { $0.requests.count == 1 }
      gate.open()
      var sources: [LoadedImage.Source] = []
      for try await image in group {
        #expect(image.bytes == SampleImage.jpeg)
        sources.append(image.source)
      }
      // Transferred bytes count once. A load that comes late finds the image in memory.
      #expect(sources.filter { $0 == .network }.count == 1)
      #expect(sources.filter { $0 == .memory }.count == 49)
    }
    #expect(server.log.requests.count == 1)
  }

  @Test func `a caller that leaves does not disturb the others, and the last one closes the connection`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let first = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 1 }
    let second = Task { try await test.loader.load(item) }
    let key = try #require(item.original?.url.key)
    while test.loader.resources.loads.coalescer.count(of: key) < 2 { await Task.yield() }
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    #expect(server.log.closedByClient == 0)
    second.cancel()
    await #expect(throws: LoadError.self) { try await second.value }
    await server.reaches { $0.closedByClient == 1 }
    #expect(server.log.requests.count == 1)
    gate.open()
  }

  @Test func `a cancelled load says so and leaves nothing in the cache`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 1 }
    load.cancel()
    do {
      _ = try await load.value
      Issue.record("not cancelled")
    } catch let error as LoadError {
      #expect(error.code == .cancelled)
    }
    await server.reaches { $0.closedByClient == 1 }
    gate.open()
    #expect(test.loader.resolve(item).situation.original == .remote)
  }

  @Test func `an image comes from the network, then from memory, and from disk in another loader`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    #expect(try await test.loader.load(item).source == .network)
    #expect(try await test.loader.load(item).source == .memory)
    let other = try TestLoader(memoryLimit: ByteCount(0))
    _ = try await other.loader.load(item)
    #expect(try await other.loader.load(item).source == .disk)
    #expect(server.log.requests.count == 2)
  }

  @Test func `a damaged file is never shown but fetched again, and offline the load fails`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(memoryLimit: ByteCount(0))
    var item = try TestLoader.item(server, original: "/a.jpg")
    // The item has a variant on another machine, so that being offline matters.
    item.thumbnail = ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/s.jpg"))
    func damage() throws {
      let path = try #require(
        test.loader.resources.storage.store.read(try ImageURL(server.url("/a.jpg")).key)?.image.path
      )
      var bytes = SampleImage.jpeg
      bytes[150] ^= 1
      try Data(bytes).write(to: URL(filePath: path))
    }
    _ = try await test.loader.load(item)
    try damage()
    let again = try await test.loader.load(item)
    #expect(again.source == .network)
    #expect(again.bytes == SampleImage.jpeg)
    try damage()
    test.network.become(.offline)
    do {
      _ = try await test.loader.load(item)
      Issue.record("a damaged image was shown")
    } catch {
      #expect(error.code == .nothingToShow)
      #expect(error.resolution?.decision.image == .placeholder)
    }
  }

  @Test func `each resolution uses the current network and settings`() throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.wifi)
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/a-small.jpg")
    #expect(test.loader.resolve(item).decision.load == .original)
    test.network.become(.cellular)
    #expect(test.loader.resolve(item).decision.load == .thumbnail)
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    #expect(test.loader.resolve(item).decision.load == .original)
    // Replaces the file as an editor or another program does.
    try Data("{}".utf8).write(to: URL(filePath: test.settings.file.path))
    #expect(test.loader.resolve(item).decision.load == .thumbnail)
  }

  /// Behaviour 18.
  @Test func `on a metered network the thumbnail is shown and no byte of the original is requested`()
    async throws
  {
    let server = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let test = try TestLoader(.cellular)
    let item = try TestLoader.item(server, original: "/o.jpg", thumbnail: "/t.jpg")
    let image = try await test.loader.load(item)
    #expect(image.variant.role == .thumbnail)
    #expect(image.resolution.item.original == item.original)
    #expect(server.log.requests.map(\.path) == ["/t.jpg"])
  }

  @Test func `a lowered limit applies from the next image on`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let items = try ["/a", "/b", "/c"].map { try TestLoader.item(server, original: $0) }
    _ = try await test.loader.load(items[0])
    try test.settings.set(.cacheOriginalsLimit, to: "400 B")
    try test.settings.set(.cacheMemoryLimit, to: "0 B")
    _ = try await test.loader.load(items[1])
    _ = try await test.loader.load(items[2])
    #expect(test.loader.resolve(items).map(\.situation.original) == [.remote, .remote, .cached])
  }

  @Test func `an item on this machine is loaded without a network`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.offline)
    let here = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let there = FeedItem(
      original: nil,
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/a"))
    )
    #expect(test.loader.resolve([here, there]).map(\.situation.network) == [.ethernet, .offline])
    let image = try await test.loader.load(here)
    #expect(image.variant.role == .original)
    #expect(image.source == .network)
    let network = image.resolution.facts.first { $0.name == "network" }
    #expect(network?.source == "offline, but the item is on this machine")
  }

  @Test func `progress reports the received bytes and the announced size`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let told = Mutex<[LoadProgress]>([])
    _ = try await test.loader.load(try TestLoader.item(server, original: "/a.jpg")) { progress in
      told.withLock { $0.append(progress) }
    }
    let whole = ByteCount(SampleImage.jpeg.count)
    #expect(told.withLock { $0.last } == LoadProgress(received: whole, total: whole))
  }

  @Test func `a batch reads the network once and decides like single calls`() throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.cellular)
    let items = try (0..<20).map {
      try TestLoader.item(server, original: "/\($0)", thumbnail: "/\($0)-small")
    }
    #expect(test.loader.resolve(items).map(\.decision) == items.map { test.loader.resolve($0).decision })
  }

  @Test func `a body that fits in the download limit loads, however high the limit is`() async throws {
    let test = try TestLoader(
      downloader: HeldDownloader(holding: { _ in false }) { _ in
        HeldDownloader.Response(body: [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: 2 << 20))
      }
    )
    try test.settings.set(.downloadLimit, to: "9000000 TB")
    let image = try await test.loader.load(try TestLoader.item(original: "http://a.example/a.jpg"))
    #expect(image.bytes.count == (2 << 20) + 3)
  }
}
