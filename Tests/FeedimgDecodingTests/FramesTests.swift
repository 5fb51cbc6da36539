import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Frames one by one, and the detection of animations.
@Suite(.timeLimit(.minutes(10))) struct FramesTests {
  private static let small = DecodeRequest(DisplaySize(width: 20, height: 20))
  private static let files =
    DecodingTests.animations.map(\.0) + ["interlaced.gif", "fields.png", "fields.jpg"]

  /// The frames of a pass, and the error at its end.
  private func gathered(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits = DecodingLimits()
  ) async -> (frames: [ImageAnimation.Frame], error: DecodeError?) {
    var frames: [ImageAnimation.Frame] = []
    do throws(DecodeError) {
      let pass = try await CodecDecoder(limits: limits, threads: 1).frames(bytes, request)
      while let frame = try await pass.next() { frames.append(frame) }
      return (frames, try await pass.next() == nil ? nil : DecodeError(.damaged, "a frame after the end"))
    } catch {
      return (frames, error)
    }
  }

  @Test(arguments: files) func `frames delivered one by one equal those decoded at once`(
    _ file: String
  ) async throws {
    let bytes = try Fixture.bytes(file)
    let all = try Fixture.animation(bytes, Self.small)
    let pass = try await CodecDecoder().frames(bytes, Self.small)
    #expect(pass.loopCount == all.loopCount, "it is known before the first frame")
    #expect(await gathered(bytes, Self.small).frames == all.frames)
  }

  @Test(arguments: DecodingTests.animations.map(\.0), DecodeRequest.Damage.allCases)
  func `a truncated file delivers as many frames one by one as at once`(
    _ file: String,
    _ damage: DecodeRequest.Damage
  ) async throws {
    let bytes = try Fixture.bytes(file)
    let request = DecodeRequest(DisplaySize(width: 20, height: 20), damage: damage)
    for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
      let part = Array(bytes[..<count])
      let (frames, error) = await gathered(part, request)
      let all = Result { () throws(DecodeError) in try Fixture.animation(part, request) }
      switch all {
      case .success(let animation): #expect(error == nil && frames == animation.frames, "\(count) bytes")
      case .failure(let expected): #expect(error == expected, "\(count) bytes")
      }
      if damage == .show, error != nil { #expect(frames.isEmpty, "\(count) bytes") }
    }
  }

  @Test func `a pass ends at the limit`() async throws {
    var limits = DecodingLimits()
    limits.frames = 2
    let (frames, error) = await gathered(try Fixture.bytes("animation.gif"), Self.small, limits)
    #expect(frames.count == 2 && error == nil)
  }

  @Test func `a cancelled pass delivers no more frames`() async throws {
    let pass = try await CodecDecoder().frames(try Fixture.bytes("animation.gif"), Self.small)
    let task = Task { () async throws(DecodeError) -> ImageAnimation.Frame? in
      while !Task.isCancelled { await Task.yield() }
      return try await pass.next()
    }
    task.cancel()
    let cancelled = await #expect(throws: DecodeError.self) { try await task.value }
    #expect(cancelled?.code == .cancelled)
    await #expect(throws: DecodeError.self) { try await pass.next() }
  }

  @Test(arguments: Fixture.whole) func `an animation is detected without decoding`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    let mediaType = try Codec(of: bytes).rawValue
    let format = try #require(ImageFormat(mediaType: mediaType))
    #expect(format.isAnimated(bytes) == (try Fixture.decode(bytes).isAnimated))
  }

  @Test(arguments: DecodingTests.animations.map(\.0))
  func `a partial file is animated from the beginning of the second frame on`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    let mediaType = try Codec(of: bytes).rawValue
    let format = try #require(ImageFormat(mediaType: mediaType))
    let told = (0...bytes.count).map { format.isAnimated(Array(bytes[..<$0])) }
    #expect(told.first == false && told.last == true)
    #expect(!told.drop { !$0 }.contains(false))
  }

  @Test(
    arguments: [
      ("image/gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0xFF, 0, 0]),
      ("image/gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0, 0, 0, 0x2C]),
      ("image/gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0, 0, 0, 0x21, 0xFF, 0xFF]),
      ("image/webp", Array("RIFF....WEBPVP8XAAAA".utf8)),
      ("image/webp", Array("RIFF....WEBPVP8X".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0]),
      ("image/avif", Array("....ftypavi".utf8)),
      ("image/png", []),
    ] as [(String, [UInt8])]
  )
  func `a broken structure is not an animation`(_ mediaType: String, _ bytes: [UInt8]) {
    #expect(ImageFormat(mediaType: mediaType)?.isAnimated(bytes) == false)
  }
}
