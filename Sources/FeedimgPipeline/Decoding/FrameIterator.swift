import FeedimgModel
import FeedimgSystem
import Synchronization

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
        return Step(reader: current, frame: try await queue.frame(of: current))
      }
    }
  }
}
