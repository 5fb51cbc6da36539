import LoopbackServer
import Testing

@testable import Feedimg

/// How one load uses memory and disk, and which policy decides about it.
@Suite(.timeLimit(.minutes(10))) struct CachePolicyTests {
  private let origin: PictureOrigin
  private let clock = TestClock()

  init() throws { origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")]) }

  private func loader(_ kind: NetworkKind = .wifi, folder: String? = nil) throws -> TestLoader {
    try TestLoader(kind, folder: folder, clock: { [clock] in clock.now })
  }

  private func item() throws -> FeedItem {
    try TestLoader.item(origin.server, original: "/a.jpg", thumbnail: "/s.jpg")
  }

  private func thumbnailAlone() throws -> FeedItem {
    try TestLoader.item(origin.server, thumbnail: "/s.jpg")
  }

  @Test func `a load from the cache alone shows the cached thumbnail and sends no request`() async throws {
    let test = try loader()
    _ = try await test.loader.load(thumbnailAlone())
    clock += 1000
    let image = try await test.loader.load(item(), cache: .cacheOnly)
    #expect(image.variant.role == .thumbnail && image.source == .memory)
    #expect(image.freshness?.isRevalidating == false)
    #expect(image.resolution.situation.network == .wifi, "the facts stay true")
    #expect(image.resolution.why.hasPrefix("only a cached image was requested; "))
    _ = await test.loader.finishRevalidations(within: .seconds(60))
    #expect(origin.requests.count == 1)
  }

  @Test func `a load from the cache alone has nothing to show if nothing is cached`() async throws {
    let test = try loader()
    let item = try item()
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item, cache: .cacheOnly) }
    #expect(error?.code == .nothingToShow)
    #expect(origin.requests.isEmpty)
  }

  @Test func `a load that bypasses memory neither reads nor fills it`() async throws {
    let test = try loader()
    let item = try item()
    #expect(try await test.loader.load(item, cache: .bypassMemory).source == .network)
    #expect(try await test.loader.load(item, cache: .bypassMemory).source == .disk)
    #expect(try await test.loader.load(item).source == .disk)
    #expect(try await test.loader.load(item).source == .memory)
    #expect(try await test.loader.load(item, cache: .bypassMemory).source == .disk)
    #expect(origin.requests.count == 1)
  }

  @Test func `a load that bypasses the disk neither reads nor writes it`() async throws {
    let test = try loader()
    let item = try item()
    let image = try await test.loader.load(item, cache: .bypassDisk)
    #expect(image.source == .network && image.path == nil)
    #expect(try await test.loader.load(item, cache: .bypassDisk).source == .memory)
    let other = try loader(folder: test.folder)
    #expect(other.loader.resolve(item).situation.original == .remote)
    _ = try await other.loader.load(item)
    let third = try loader(folder: test.folder)
    #expect(try await third.loader.load(item, cache: .bypassDisk).source == .network)
    #expect(try await third.loader.load(item, cache: .bypassMemory).source == .disk)
  }

  @Test func `a reload asks the server first`() async throws {
    let test = try loader()
    let item = try item()
    _ = try await test.loader.load(item)
    origin.version = .init(SampleImage.png)
    #expect(try await test.loader.load(item).bytes == SampleImage.jpeg)
    #expect(try await test.loader.load(item, cache: .reload).bytes == SampleImage.png)
  }

  @Test func `a policy by name decides about one load`() async throws {
    let test = try loader(.cellular)
    let item = try item()
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
    let image = try await test.loader.load(item, policy: "always-original")
    #expect(image.variant.role == .original && image.resolution.policy == "always-original")
    #expect(image.resolution.situation.network == .cellular)
    #expect(test.loader.policyInForce.name == "default")
  }

  @Test func `a policy that does not exist fails with a suggestion and without a request`() async throws {
    let test = try loader()
    let item = try item()
    let error = await #expect(throws: LoadError.self) {
      try await test.loader.load(item, policy: "always-originals")
    }
    #expect(error?.code == .invalidPolicy)
    #expect(error?.message.contains("did you mean `always-original`?") == true)
    #expect(origin.requests.isEmpty)
  }
}
