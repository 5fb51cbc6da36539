public import FeedimgModel
import Glibc

/// Decodes JPEG, PNG, GIF, WebP and AVIF with the libraries that everybody uses for them.
///
/// For any thread. Works on threads of its own, `feedimg-decode`, which end with it.
///
/// Colours come out in sRGB with eight bits. What they mean in the file is told by its ICC profile; where there is
/// none, by the codes of ITU-T H.273 in an AVIF, and by `sRGB`, or `gAMA` and `cHRM`, in a PNG, where `cICP` goes
/// before all of these. What sRGB does not have is clipped. Of PQ and HLG, light up to half that of paper is kept,
/// and what is brighter is rolled off, so that 1,000 cd/m² are white.
public final class CodecDecoder: ImageDecoding {
  /// What an image may ask for.
  public let limits: DecodingLimits
  /// The most images that are decoded at once.
  public let width: Int
  private let threads: DecodingThreads

  /// Makes a decoder; no thread is started before there is an image.
  ///
  /// - Parameters:
  ///   - limits: What an image may ask for.
  ///   - threads: The most images that are decoded at once; nil for one less than there are processors, so that one
  ///     is left to the screen.
  public init(limits: DecodingLimits = DecodingLimits(), threads: Int? = nil) {
    self.limits = limits
    let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    width = max(1, threads ?? min(max(processors - 1, 1), 8))
    self.threads = DecodingThreads(width: width)
  }

  /// What can be decoded, the smaller formats first.
  public var mediaTypes: [String] { Codec.allCases.map(\.rawValue) }

  /// Decodes an image at the size asked, see `ImageDecoding`.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: The image upright, in sRGB; never enlarged.
  /// - Throws: `DecodeError`; what is too large is told before anything is decoded.
  public func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> DecodedImage {
    let stop = StopSign()
    return try await threads.run(stop) { [limits] () throws(DecodeError) in
      try Self.decode(bytes, request, limits, stop)
    }
  }

  /// Decodes all frames of an animation at the size asked, see `ImageDecoding`.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: As many frames as the limits allow; of a still image, its only one.
  /// - Throws: `DecodeError`; what is too large is told before anything is decoded.
  public func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    let stop = StopSign()
    return try await threads.run(stop) { [limits] () throws(DecodeError) in
      try Self.animation(bytes, request, limits, stop)
    }
  }

  /// Opens an animation to decode its frames one by one, see `ImageDecoding`.
  ///
  /// The encoded image is held until the pass has ended, and one picture of it as large as it is.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: A pass that begins with the first frame, and gives as many as the limits allow.
  /// - Throws: `DecodeError`; what is too large is told before anything is decoded.
  public func frames(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> any FrameReading {
    let stop = StopSign()
    return try await threads.run(stop) { [limits, threads] () throws(DecodeError) in
      try CodecFrames(bytes, request, limits, threads, stop)
    }
  }

  // MARK: On one of the threads

  static func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ stop: StopSign
  ) throws(DecodeError) -> DecodedImage {
    let codec = try Codec(of: bytes)
    return try bytes.withUnsafeBufferPointer { bytes throws(DecodeError) in
      let reader = try FrameReader(codec, bytes, request, limits, stop)
      guard let frame = try reader.next() else {
        throw DecodeError(.damaged, "the \(codec) picture is empty")
      }
      return DecodedImage(
        bitmap: frame.bitmap,
        sourceSize: reader.placement.sourceSize,
        isPartial: frame.isPartial,
        isAnimated: reader.frameCount > 1,
        detail: frame.detail
      )
    }
  }

  static func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ stop: StopSign
  ) throws(DecodeError) -> ImageAnimation {
    let codec = try Codec(of: bytes)
    return try bytes.withUnsafeBufferPointer { bytes throws(DecodeError) in
      let reader = try FrameReader(codec, bytes, request, limits, stop)
      let most = min(limits.frames, limits.memory.bytes / max(1, reader.outputSize))
      let sequence = FrameSequence(reader, codec, request, limit: most)
      var frames: [ImageAnimation.Frame] = []
      while let frame = try sequence.next() { frames.append(frame) }
      return ImageAnimation(frames: frames, loopCount: sequence.loopCount, isPartial: sequence.isPartial)
    }
  }
}
