public import FeedimgModel

/// The frames of an animated image, decoded one after the other.
///
/// The decoder works one frame ahead of the caller; no other frame takes memory. Each iteration decodes the
/// animation again from its first frame. An iteration ends after the last frame, or at a limit of the
/// decoder. The decoder stops when the caller leaves the loop or cancels the task.
public struct AnimationFrames: AsyncSequence, Sendable {
  /// A picture and the time for which it is shown.
  public typealias Element = ImageAnimation.Frame
  /// The error that ends a pass when a frame cannot be decoded.
  public typealias Failure = DecodeError

  /// How many times to play the animation; nil repeats it without end.
  public let loopCount: Int?

  private let bytes: [UInt8]
  private let request: DecodeRequest
  private let queue: DecodingQueue

  init(_ bytes: [UInt8], _ request: DecodeRequest, on queue: DecodingQueue) async throws(DecodeError) {
    loopCount = try await queue.frames(bytes, request).loopCount
    (self.bytes, self.request, self.queue) = (bytes, request, queue)
  }

  /// Begins a pass.
  ///
  /// Decoding starts when the caller requests the first frame.
  public func makeAsyncIterator() -> Iterator { Iterator(pass: FrameIterator(bytes, request, queue)) }

  /// One pass over the frames.
  public struct Iterator: AsyncIteratorProtocol {
    let pass: FrameIterator

    /// Waits for the next frame.
    ///
    /// - Returns: The next frame, or nil after the last one.
    /// - Throws: ``DecodeError`` at a damaged frame. Earlier calls have returned the frames before it.
    public mutating func next() async throws(DecodeError) -> ImageAnimation.Frame? {
      try await next(isolation: #isolation)
    }

    /// Waits for the next frame.
    ///
    /// - Parameter actor: The actor on which the caller runs.
    /// - Returns: The next frame, or nil after the last one.
    /// - Throws: ``DecodeError`` at a damaged frame. Earlier calls have returned the frames before it.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DecodeError) -> ImageAnimation.Frame? {
      try await pass.next()
    }
  }
}
