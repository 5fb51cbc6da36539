import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Frames that are decoded during playback.
@Suite(.timeLimit(.minutes(10))) struct AnimationFramesTests {
  private static let small = DecodeRequest(DisplaySize(width: 20, height: 20))

  private func loaded(
    _ bytes: [UInt8],
    _ decoder: any ImageDecoding
  ) async throws -> (test: TestLoader, image: LoadedImage) {
    let server = try LoopbackServer { _ in .response(body: bytes) }
    let test = try TestLoader(decoder: decoder)
    return (test, try await test.loader.load(try TestLoader.item(server, original: "/a")))
  }

  /// Lets other tasks run.
  private func yieldToOthers() async { for _ in 0..<20 { await Task.yield() } }

  @Test(arguments: ["animation.gif", "animation.webp", "animation.avif"])
  func `each pass starts with the first frame`(_ file: String) async throws {
    let (test, image) = try await loaded(try Clouds.fixture(file), CodecDecoder())
    #expect(image.isAnimated)
    let all = try await test.loader.animation(image, Self.small)
    let frames = try await test.loader.frames(of: image, Self.small)
    #expect(frames.loopCount == all.loopCount)
    for _ in 0..<2 {
      var seen: [ImageAnimation.Frame] = []
      for try await frame in frames { seen.append(frame) }
      #expect(seen == all.frames)
    }
    #expect(test.loader.resources.storage.memory.decoded.count == 0, "frames are not kept")
  }

  @Test func `at most one frame is decoded ahead`() async throws {
    let decoder = SteppedDecoder()
    decoder.allow(.max)
    let (test, image) = try await loaded(try Clouds.fixture("animation.gif"), decoder)
    let frames = try await test.loader.frames(of: image, Self.small)
    var iterator = frames.makeAsyncIterator()
    await yieldToOthers()
    #expect(decoder.asked.load(ordering: .relaxed) == 0, "no frame is decoded before it is requested")
    for number in 1...3 {
      let frame = try await iterator.next()
      #expect(frame?.duration == .milliseconds(number))
      while decoder.asked.load(ordering: .relaxed) <= number { await Task.yield() }
      await yieldToOthers()
      #expect(decoder.asked.load(ordering: .relaxed) == number + 1)
    }
  }

  @Test func `leaving the loop cancels the frame that is decoded ahead`() async throws {
    let decoder = SteppedDecoder()
    decoder.allow(1)
    let (test, image) = try await loaded(try Clouds.fixture("animation.gif"), decoder)
    for try await frame in try await test.loader.frames(of: image, Self.small) {
      #expect(frame.duration == .milliseconds(1))
      while decoder.asked.load(ordering: .relaxed) < 2 { await Task.yield() }
      break
    }
    while decoder.stopped.load(ordering: .relaxed) == 0 { await Task.yield() }
  }

  @Test func `cancelling the task cancels the frame that it waits for`() async throws {
    let decoder = SteppedDecoder()
    let (test, image) = try await loaded(try Clouds.fixture("animation.gif"), decoder)
    let frames = try await test.loader.frames(of: image, Self.small)
    let task = Task { () async throws(DecodeError) in
      var iterator = frames.makeAsyncIterator()
      return try await iterator.next()
    }
    while decoder.asked.load(ordering: .relaxed) < 1 { await Task.yield() }
    task.cancel()
    let error = await #expect(throws: DecodeError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(decoder.stopped.load(ordering: .relaxed) == 1)
    await yieldToOthers()
    #expect(decoder.asked.load(ordering: .relaxed) == 1, "no frame is decoded after its caller has left")
  }

  @Test func `a damaged frame ends the pass after the frames before it`() async throws {
    let bytes = Array(try Clouds.fixture("animation.gif").dropLast(60))
    let test = try TestLoader(decoder: CodecDecoder())
    let queue = try #require(test.loader.resources.pixels)
    let frames = try await AnimationFrames(bytes, Self.small, on: queue)
    var iterator = frames.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    let error = await #expect(throws: DecodeError.self) { while try await iterator.next() != nil {} }
    #expect(error?.code == .damaged)
    #expect(try await iterator.next() == nil, "nothing follows")
  }

  /// A decoder that cannot decode single frames.
  private struct WholeDecoder: ImageDecoding {
    let mediaTypes = ["image/gif"]
    let decoder = CodecDecoder()

    func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
      try await decoder.decode(bytes, request)
    }

    func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
      try await decoder.animation(bytes, request)
    }
  }

  @Test func `a decoder that returns all frames at once delivers them one by one`() async throws {
    let (test, image) = try await loaded(try Clouds.fixture("animation.gif"), WholeDecoder())
    let all = try await test.loader.animation(image, Self.small)
    let frames = try await test.loader.frames(of: image, Self.small)
    #expect(frames.loopCount == 6)
    var seen: [ImageAnimation.Frame] = []
    for try await frame in frames { seen.append(frame) }
    #expect(seen == all.frames && seen.count == 3)
  }

  @Test func `a still image has one frame, and without a decoder it has none`() async throws {
    let (test, image) = try await loaded(SampleImage.jpeg, CodecDecoder())
    #expect(!image.isAnimated)
    var count = 0
    for try await _ in try await test.loader.frames(of: image, Self.small) { count += 1 }
    #expect(count == 1)
    let plain = try TestLoader()
    let error = await #expect(throws: DecodeError.self) {
      try await plain.loader.frames(of: image, Self.small)
    }
    #expect(error?.code == .unavailable)
  }
}
