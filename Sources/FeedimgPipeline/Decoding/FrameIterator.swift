import FeedimgModel
import FeedimgSystem
import Synchronization

/// One pass over the frames of an animation.
///
/// It decodes one frame ahead of its only caller.
final class FrameIterator: Sendable {
  private typealias Step = Result<ImageAnimation.Frame?, DecodeError>

  /// Reads the frames.
  ///
  /// It is a separate object, so that the task that decodes ahead does not keep an abandoned pass alive.
  private final class Source: Sendable {
    private let bytes: [UInt8]
    private let request: DecodeRequest
    private let queue: DecodingQueue
    /// Guards the frame reader, which is nil before the first frame.
    private let reader = Mutex<(any FrameReading)?>(nil)

    init(_ bytes: [UInt8], _ request: DecodeRequest, _ queue: DecodingQueue) {
      (self.bytes, self.request, self.queue) = (bytes, request, queue)
    }

    func next() async -> Step {
      await Step.of { () async throws(DecodeError) in
        if let reader = reader.withLock({ $0 }) { return try await queue.frame(of: reader) }
        let new = try await queue.frames(bytes, request)
        reader.withLock { $0 = new }
        return try await queue.frame(of: new)
      }
    }
  }

  private let source: Source
  /// Guards the task that decodes ahead; nil before the first frame and after the last.
  private let ahead = Mutex<Task<Step, Never>?>(nil)
  private let isOver = Atomic(false)

  init(_ bytes: [UInt8], _ request: DecodeRequest, _ queue: DecodingQueue) {
    source = Source(bytes, request, queue)
  }

  deinit { ahead.withLock { $0 }?.cancel() }

  /// Returns the next frame; nil after the last one or after an error.
  func next() async throws(DecodeError) -> ImageAnimation.Frame? {
    guard !isOver.load(ordering: .relaxed) else { return nil }
    let task = ahead.withLock { $0.take() } ?? decode()
    let step = await task.cancellableValue
    guard case .success(.some) = step else {
      isOver.store(true, ordering: .relaxed)
      return try step.get()
    }
    let next = decode()
    ahead.withLock { $0 = next }
    return try step.get()
  }

  private func decode() -> Task<Step, Never> {
    Task { [source] in await source.next() }
  }
}
