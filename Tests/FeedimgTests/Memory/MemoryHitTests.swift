import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Memory hits, which need no load.
///
/// Uses a real server, a real disk and a manual clock.
@Suite struct MemoryHitTests {
  private let clock = TestClock()

  private func loader(_ kind: NetworkKind = .wifi) throws -> TestLoader {
    try TestLoader(kind, clock: { [clock] in clock.now })
  }

  @Test func `a loaded image is a memory hit and equals the result of a load`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    #expect(test.loader.lookUpInMemory(item) == nil, "memory is still empty")
    _ = try await test.loader.load(item)
    clock += 20
    let image = try #require(test.loader.lookUpInMemory(item))
    let loaded = try await test.loader.load(item)
    #expect(image.bytes == loaded.bytes)
    #expect((image.variant, image.decision) == (loaded.variant, loaded.resolution.decision))
    #expect((image.policy, image.mediaType) == (loaded.resolution.policy, loaded.mediaType))
    #expect(abs((image.timeLeft ?? 0) - 40) < 2)
    #expect(origin.requests.count == 1)
  }

  @Test func `showing an image that needs revalidation takes a load`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    clock += 61
    #expect(test.loader.lookUpInMemory(item) == nil)
    let image = try await test.loader.load(item)
    _ = await test.loader.revalidation(of: image)
    #expect(test.loader.lookUpInMemory(item) != nil, "it was revalidated just now")
  }

  @Test func `a memory hit uses the current network state`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg", thumbnail: "/b.jpg")
    _ = try await test.loader.load(item)
    #expect(test.loader.lookUpInMemory(item)?.decision.image == .original)
    for kind in [NetworkKind.cellular, .offline, .wifi] {
      test.network.become(kind)
      #expect(test.loader.lookUpInMemory(item)?.decision == test.loader.resolve(item).decision, "\(kind)")
    }
  }

  @Test func `the disk is searched only where a stored image could change the decision`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader(.cellular)
    let item = try TestLoader.item(origin.server, original: "/a.jpg", thumbnail: "/b.jpg")
    let shown = try await test.loader.load(item)
    #expect(shown.variant.role == .thumbnail)
    #expect(test.loader.lookUpInMemory(item) == nil, "the original on disk would be shown")
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
  }
}
