public import FeedimgModel
import FeedimgSystem
import Synchronization

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

/// One pass over the frames of an animation.
///
/// It decodes one frame ahead of its only caller.
final class FrameIterator: Sendable {
  /// A frame, with the reader of the frames after it.
  private struct Step: Sendable {
    let reader: any FrameReading
    let frame: ImageAnimation.Frame?
  }

  private let bytes: [UInt8]
  private let request: DecodeRequest
  private let queue: DecodingQueue
  /// Guards the task that decodes ahead; nil before the first frame and after the last.
  private let ahead = Mutex<Task<Result<Step, DecodeError>, Never>?>(nil)
  private let isOver = Atomic(false)

  init(_ bytes: [UInt8], _ request: DecodeRequest, _ queue: DecodingQueue) {
    (self.bytes, self.request, self.queue) = (bytes, request, queue)
  }

  deinit { ahead.withLock { $0 }?.cancel() }

  /// Returns the next frame; nil after the last one or after an error.
  func next() async throws(DecodeError) -> ImageAnimation.Frame? {
    guard !isOver.load(ordering: .relaxed) else { return nil }
    let task = ahead.withLock { $0.take() } ?? decode(nil)
    let result = await task.cancellableValue
    guard case .success(let step) = result, step.frame != nil else {
      isOver.store(true, ordering: .relaxed)
      return try result.get().frame
    }
    let next = decode(step.reader)
    ahead.withLock { $0 = next }
    return step.frame
  }

  /// Starts a task, which does not keep an abandoned pass alive.
  private func decode(_ reader: (any FrameReading)?) -> Task<Result<Step, DecodeError>, Never> {
    Task { [bytes, request, queue] in
      await Result.of { () async throws(DecodeError) -> Step in
        let current = if let reader { reader } else { try await queue.frames(bytes, request) }
        return Step(reader: current, frame: try await queue.frame(of: current, request))
      }
    }
  }
}
