import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Removed images leave the disk and the memory of every process.
@Suite(.timeLimit(.minutes(10))) struct ClearTests {
  private static let picture = Reply.response(
    200,
    [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")],
    body: SampleImage.jpeg
  )

  /// A way to remove all images.
  struct Clearing: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// Whether it works without the loader, as in another process.
    var clear: @Sendable (ImageLoader, DiskCache) async throws -> Void
  }

  static let clearings = [
    Clearing(testDescription: "this loader") { loader, _ in try await loader.clearCache() },
    Clearing(testDescription: "another process") { _, other in try other.clear() },
    Clearing(testDescription: "another process, one image") { _, other in
      var keys: [String] = []
      try other.list(by: .used) { image in
        keys.append(image.key)
        return true
      }
      for key in keys { _ = try other.removeEverywhere(key) }
    },
  ]

  /// The cache of a loader as another process sees it.
  private func otherProcess(_ test: TestLoader) -> DiskCache {
    DiskCache(folder: test.folder + "/cache", limits: CacheLimits(UserSettings()), clock: { 1e9 })
  }

  @Test(arguments: clearings)
  func `a removed image is neither on the disk nor in memory`(clearing: Clearing) async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    for _ in 0..<2 {
      #expect(try await test.loader.load(item).source == .network)
      #expect(try await test.loader.load(item).source == .memory)
      try await clearing.clear(test.loader, otherProcess(test))
      #expect(test.loader.resolve(item).situation.original == .remote)
      #expect(test.loader.lookUpInMemory(item) == nil)
    }
    #expect(server.log.requests.count == 2)
  }

  @Test func `other images stay on the disk when one is removed`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let (first, second) = (
      try TestLoader.item(server, original: "/a"), try TestLoader.item(server, original: "/b")
    )
    for item in [first, second] { _ = try await test.loader.load(item) }
    #expect(try otherProcess(test).removeEverywhere(try #require(first.original?.url.key)))
    #expect(try await test.loader.load(second).source == .disk)
    #expect(try await test.loader.load(second).source == .memory)
    #expect(try await test.loader.load(first).source == .network)
  }

  @Test(arguments: clearings)
  func `an image that was loading when a user removed images is shown and not kept`(
    clearing: Clearing
  ) async throws {
    let gate = Gate()
    let server = try LoopbackServer {
      $0.path == "/a.jpg" ? .held(by: gate, then: Self.picture) : Self.picture
    }
    let test = try TestLoader()
    _ = try await test.loader.load(try TestLoader.item(server, original: "/b.jpg"))
    let item = try TestLoader.item(server, original: "/a.jpg")
    async let loading = test.loader.load(item)
    await server.reaches { $0.requests.count == 2 }
    try await clearing.clear(test.loader, otherProcess(test))
    gate.open()
    let image = try await loading
    #expect(image.bytes == SampleImage.jpeg && image.path == nil)
    #expect(test.loader.resolve(item).situation.original == .remote)
    #expect(try await test.loader.load(item).source == .network)
  }

  @Test func `clearing memory leaves the disk`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    test.loader.clearMemory()
    #expect(try await test.loader.load(item).source == .disk)
    #expect(try await test.loader.load(item).source == .memory)
  }

  @Test func `cancelled loads throw, slots say so, and later loads work`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/b.jpg"))
    let loading = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 2 }
    test.loader.cancelLoads()
    let error = await #expect(throws: LoadError.self) { try await loading.value }
    #expect(error?.code == .cancelled)
    let last = await slot.first { !$0.isLoading }
    #expect(last?.error?.code == .cancelled)
    gate.open()
    #expect(try await test.loader.load(item).bytes == SampleImage.jpeg)
    slot.show(item)
    #expect(await slot.first { $0.shown == .original } != nil)
  }
}
