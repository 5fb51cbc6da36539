public import FeedimgModel

/// The frames of an animated image, each decoded shortly before it is asked for.
///
/// One frame is decoded ahead, so that it is there when its time comes; the others take no memory, however many there
/// are. Each iteration is a pass from the first frame to the last, decoded anew, and ends behind the frames that are
/// there, or that the limits of the decoder allow. Cancelling the task stops the decoder, as leaving the loop does.
public struct AnimationFrames: AsyncSequence, Sendable {
  /// What is seen for a while.
  public typealias Element = ImageAnimation.Frame
  /// Why a frame cannot be had, which ends a pass.
  public typealias Failure = DecodeError

  /// How often the animation is to be shown; nil for ever.
  public let loopCount: Int?

  private let bytes: [UInt8]
  private let request: DecodeRequest
  private let desk: DecodingDesk

  init(_ bytes: [UInt8], _ request: DecodeRequest, on desk: DecodingDesk) async throws(DecodeError) {
    loopCount = try await desk.frames(bytes, request).loopCount
    (self.bytes, self.request, self.desk) = (bytes, request, desk)
  }

  /// Begins a pass; nothing is decoded before the first frame is asked for.
  public func makeAsyncIterator() -> Iterator { Iterator(pass: FramePass(bytes, request, desk)) }

  /// One pass over the frames.
  public struct Iterator: AsyncIteratorProtocol {
    let pass: FramePass

    /// Waits for the next frame; nil behind the last.
    ///
    /// - Returns: The next frame, or nil.
    /// - Throws: ``DecodeError``; the frames before a damaged one have come.
    public mutating func next() async throws(DecodeError) -> ImageAnimation.Frame? {
      try await next(isolation: #isolation)
    }

    /// Waits for the next frame; nil behind the last.
    ///
    /// - Parameter actor: Where the caller runs.
    /// - Returns: The next frame, or nil.
    /// - Throws: ``DecodeError``; the frames before a damaged one have come.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DecodeError) -> ImageAnimation.Frame? {
      try await pass.next()
    }
  }
}
