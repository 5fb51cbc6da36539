import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Animated images in slots.
@Suite(.timeLimit(.minutes(10))) struct SlotAnimationTests {
  private static let small = DecodeRequest(DisplaySize(width: 20, height: 20))

  private func settled(_ slot: ImageSlot) async -> Presentation? {
    for await presentation in slot.presentations where !presentation.isLoading { return presentation }
    return nil
  }

  /// Each file and its number of plays.
  ///
  /// A GIF gives the number of repetitions.
  @Test(arguments: [("animation.gif", 6), ("animation.webp", 5)])
  func `a slot shows the first frame, and a caller can get the others`(
    _ file: String,
    _ loopCount: Int
  ) async throws {
    let bytes = try Clouds.fixture(file)
    let server = try LoopbackServer { _ in .response(body: bytes) }
    let test = try TestLoader(decoder: CodecDecoder())
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"), pixels: Self.small)
    let shown = await settled(slot)
    let image = try #require(shown?.image)
    #expect(image.isAnimated)
    let animation = try await test.loader.animation(image, Self.small)
    #expect(animation.frames.map(\.duration) == [100, 200, 300].map { .milliseconds($0) })
    #expect(animation.frames.first?.bitmap == shown?.pixels)
    #expect(animation.loopCount == loopCount && !animation.isPartial)
    #expect(test.loader.resources.storage.memory.decoded.count == 1, "frames are not kept")
    #expect(server.log.count(of: "/a") == 1)
  }

  @Test func `the frames in memory stay within its limit`() async throws {
    let bytes = try Clouds.fixture("animation.gif")
    let server = try LoopbackServer { _ in .response(body: bytes) }
    var limits = DecodingLimits()
    limits.frames = 2
    let test = try TestLoader(decoder: CodecDecoder(limits: limits))
    let image = try await test.loader.load(try TestLoader.item(server, original: "/a"))
    let animation = try await test.loader.animation(image, Self.small)
    #expect(animation.frames.count == 2 && animation.isPartial)
  }

  @Test func `a still image has one frame, and without a decoder it has none`() async throws {
    let server = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let test = try TestLoader(decoder: CodecDecoder())
    let image = try await test.loader.load(try TestLoader.item(server, original: "/a"))
    #expect(try await test.loader.animation(image, Self.small).frames.count == 1)
    let plain = try TestLoader()
    let error = await #expect(throws: DecodeError.self) {
      try await plain.loader.animation(image, Self.small)
    }
    #expect(error?.code == .unavailable)
  }
}
