public import FeedimgModel
import Glibc

/// Decodes JPEG, PNG, GIF, WebP and AVIF with the libraries that everybody uses for them.
///
/// For any thread. Works on threads of its own, `feedimg-decode`, which end with it.
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

  /// Decodes an image at the size asked, see ``ImageDecoding``.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: The image upright, in sRGB; never enlarged.
  /// - Throws: ``DecodeError``; what is too large is told before anything is decoded.
  public func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> DecodedImage {
    try await run { [limits] stop throws(DecodeError) in
      try Self.decode(bytes, request, limits, stop)
    }
  }

  /// Decodes all frames of an animation at the size asked, see ``ImageDecoding``.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: As many frames as the limits allow; of a still image, its only one.
  /// - Throws: ``DecodeError``; what is too large is told before anything is decoded.
  public func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    try await run { [limits] stop throws(DecodeError) in
      try Self.animation(bytes, request, limits, stop)
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
      var frames: [ImageAnimation.Frame] = []
      var isPartial = false
      let most = min(limits.frames, limits.memory.bytes / max(1, reader.outputSize))
      do throws(DecodeError) {
        while let frame = try reader.next() {
          guard frames.count < most else {
            isPartial = true
            break
          }
          frames.append(ImageAnimation.Frame(bitmap: frame.bitmap, duration: frame.duration))
          isPartial = isPartial || frame.isPartial
          // Behind a frame that is cut off there is nothing.
          if frame.isPartial { break }
        }
      } catch {
        guard error.code == .damaged, request.damage == .show, !frames.isEmpty else { throw error }
        isPartial = true
      }
      guard !frames.isEmpty else { throw DecodeError(.damaged, "the \(codec) picture is empty") }
      return ImageAnimation(frames: frames, loopCount: reader.loopCount, isPartial: isPartial)
    }
  }

  private func run<Answer: Sendable>(
    _ body: @escaping @Sendable (StopSign) throws(DecodeError) -> Answer
  ) async throws(DecodeError) -> Answer {
    let stop = StopSign()
    let number = threads.nextNumber()
    let threads = threads
    let result: Result<Answer, DecodeError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        threads.submit(
          { isGivenUp in
            guard !isGivenUp else { return continuation.resume(returning: .failure(Self.givenUp)) }
            do throws(DecodeError) {
              continuation.resume(returning: .success(try body(stop)))
            } catch {
              continuation.resume(returning: .failure(error))
            }
          },
          number: number
        )
        // The task may have been cancelled before there was anything to give up.
        if Task.isCancelled { threads.giveUp(number) }
      }
    } onCancel: {
      stop.set()
      threads.giveUp(number)
    }
    return try result.get()
  }

  private static let givenUp = DecodeError(
    .cancelled,
    "decoding was cancelled, or no thread could be started"
  )
}
