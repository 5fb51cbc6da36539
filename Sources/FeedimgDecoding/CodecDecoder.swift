public import FeedimgModel
import Glibc

/// Decodes images with the common libraries of their formats, which ``mediaTypes`` lists.
///
/// Any thread may use it. It decodes on its own threads, `feedimg-decode`, which end with it.
///
/// Pixels are sRGB with eight bits a channel. The ICC profile of the file defines its colours. Without a profile:
///
/// - AVIF: the codes of ITU-T H.273
/// - PNG: `sRGB`, or `gAMA` and `cHRM`
///
/// In a PNG, `cICP` takes precedence over all of these. Colours outside sRGB are clipped. PQ and HLG keep luminance up
/// to half of diffuse white. Brighter values are tone-mapped, so that 1,000 cd/m² become white.
public final class CodecDecoder: ImageDecoding {
  /// The most pixels, frames and memory for one image.
  public let limits: DecodingLimits
  /// The most images that are decoded at once.
  public let width: Int
  private let threads: DecodingThreads

  /// Makes a decoder; its threads start with the first image.
  ///
  /// - Parameters:
  ///   - limits: The most pixels, frames and memory for one image.
  ///   - threads: The most images that are decoded at once; nil for one less than the processors, at most 8,
  ///     which leaves one to the user interface.
  public init(limits: DecodingLimits = DecodingLimits(), threads: Int? = nil) {
    self.limits = limits
    let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    width = max(1, threads ?? min(max(processors - 1, 1), 8))
    self.threads = DecodingThreads(width: width)
  }

  /// The media types of all codecs, smaller formats first.
  public var mediaTypes: [String] { Codec.allCases.map(\.rawValue) }

  /// Decodes an image at the requested size, see `ImageDecoding`.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: The size, the format, and the handling of damage.
  /// - Returns: The image upright, in sRGB; never enlarged.
  /// - Throws: `DecodeError`; `tooLarge` comes before decoding begins.
  public func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> DecodedImage {
    let stop = CancellationFlag()
    return try await threads.run(stop) { [limits] () throws(DecodeError) in
      try Self.decode(bytes, request, limits, stop)
    }
  }

  /// Decodes all frames of an animation at the requested size, see `ImageDecoding`.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: The size, the format, and the handling of damage.
  /// - Returns: At most as many frames as the limits allow; one frame for a still image.
  /// - Throws: `DecodeError`; `tooLarge` comes before decoding begins.
  public func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    let stop = CancellationFlag()
    return try await threads.run(stop) { [limits] () throws(DecodeError) in
      try Self.animation(bytes, request, limits, stop)
    }
  }

  /// Opens an animation to decode its frames one by one, see `ImageDecoding`.
  ///
  /// The pass keeps the encoded image and one frame of full size in memory until it ends.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: The size, the format, and the handling of damage.
  /// - Returns: A pass from the first frame, with at most as many frames as the limits allow.
  /// - Throws: `DecodeError`; `tooLarge` comes before decoding begins.
  public func frames(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> any FrameReading {
    let stop = CancellationFlag()
    return try await threads.run(stop) { [limits, threads] () throws(DecodeError) in
      try CodecFrames(bytes, request, limits, threads, stop)
    }
  }

  // MARK: On one of the threads

  package static func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ stop: CancellationFlag
  ) throws(DecodeError) -> DecodedImage {
    try bytes.withUnsafeBufferPointer { bytes throws(DecodeError) in
      let reader = try FrameReader(bytes, request, limits, stop)
      guard let frame = try reader.next() else {
        throw DecodeError(.damaged, "the \(reader.codec) picture is empty")
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

  /// Opens an animation for one thread.
  package static func sequence(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ stop: CancellationFlag
  ) throws(DecodeError) -> FrameSequence {
    let copy = EncodedBytes(bytes)
    let reader = try FrameReader(copy.buffer, request, limits, stop, owner: copy)
    return FrameSequence(reader, limit: limits.frames)
  }

  static func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ stop: CancellationFlag
  ) throws(DecodeError) -> ImageAnimation {
    try bytes.withUnsafeBufferPointer { bytes throws(DecodeError) in
      let reader = try FrameReader(bytes, request, limits, stop)
      let most = min(limits.frames, limits.memory.bytes / max(1, reader.outputSize))
      let sequence = FrameSequence(reader, limit: most)
      var frames: [ImageAnimation.Frame] = []
      while let frame = try sequence.next() { frames.append(frame) }
      return ImageAnimation(frames: frames, loopCount: sequence.loopCount, isPartial: sequence.isPartial)
    }
  }
}
