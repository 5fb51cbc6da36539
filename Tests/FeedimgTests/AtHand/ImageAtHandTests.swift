import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// What is handed over without a load: real server, real disk, and a clock that jumps.
@Suite struct ImageAtHandTests {
  private let clock = TestClock()

  private func loader(_ kind: NetworkKind = .wifi) throws -> TestLoader {
    try TestLoader(kind, clock: { [clock] in clock.now })
  }

  @Test func `an image is at hand once it was loaded, as a load would bring it`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    #expect(test.loader.atHand(item) == nil, "memory has nothing yet")
    _ = try await test.loader.load(item)
    clock += 20
    let image = try #require(test.loader.atHand(item))
    let loaded = try await test.loader.load(item)
    #expect(image.bytes == loaded.bytes)
    #expect((image.variant, image.decision) == (loaded.variant, loaded.resolution.decision))
    #expect((image.policy, image.mediaType) == (loaded.resolution.policy, loaded.mediaType))
    #expect(abs((image.timeLeft ?? 0) - 40) < 2)
    #expect(origin.requests.count == 1)
  }

  @Test func `a copy stays with an image, and no longer than somebody is likely to ask`() async throws {
    final class Form: Sendable {}
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    let (image, form) = (try #require(test.loader.atHand(item)), Form())
    #expect(image.copy == nil)
    #expect(test.loader.keep(form, cost: 1000, of: image))
    #expect(test.loader.atHand(item)?.copy === form)
    #expect(test.loader.copies == (1, ByteCount(1000)))
    test.loader.rest()
    #expect(test.loader.atHand(item)?.copy == nil)
    #expect(test.loader.copies == (0, ByteCount(0)))
    // What was replaced has none.
    origin.version = PictureOrigin.Version(SampleImage.webp)
    _ = try await test.loader.reload(item)
    #expect(!test.loader.keep(form, cost: 1000, of: image))
  }

  @Test func `what showing an image asks of its server takes a load`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    clock += 61
    #expect(test.loader.atHand(item) == nil)
    let image = try await test.loader.load(item)
    _ = await test.loader.revalidation(of: image)
    #expect(test.loader.atHand(item) != nil, "it has just been asked about")
  }

  @Test func `the network of this moment counts`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader()
    let item = try TestLoader.item(origin.server, original: "/a.jpg", thumbnail: "/b.jpg")
    _ = try await test.loader.load(item)
    #expect(test.loader.atHand(item)?.decision.image == .original)
    for kind in [NetworkKind.cellular, .offline, .wifi] {
      test.network.become(kind)
      #expect(test.loader.atHand(item)?.decision == test.loader.resolve(item).decision, "\(kind)")
    }
  }

  @Test func `what the disk may have besides is looked for where it matters`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("Cache-Control", "max-age=60")])
    let test = try loader(.cellular)
    let item = try TestLoader.item(origin.server, original: "/a.jpg", thumbnail: "/b.jpg")
    let shown = try await test.loader.load(item)
    #expect(shown.variant.role == .thumbnail)
    #expect(test.loader.atHand(item) == nil, "with its original on disk that would be shown")
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
  }
}
