import FeedimgModel
import Synchronization

/// One pass over the frames of an animation, with the next one decoded ahead; asked by one at a time.
final class FramePass: Sendable {
  private typealias Step = Result<ImageAnimation.Frame?, DecodeError>

  /// Where frames come from; apart, so that what is decoded ahead does not keep a pass alive that was left.
  private final class Source: Sendable {
    private let bytes: [UInt8]
    private let request: DecodeRequest
    private let desk: DecodingDesk
    /// Guards who reads the frames; nil before the first.
    private let reader = Mutex<(any FrameReading)?>(nil)

    init(_ bytes: [UInt8], _ request: DecodeRequest, _ desk: DecodingDesk) {
      (self.bytes, self.request, self.desk) = (bytes, request, desk)
    }

    func next() async -> Step {
      do throws(DecodeError) {
        if let reader = reader.withLock({ $0 }) { return .success(try await desk.frame(of: reader)) }
        let new = try await desk.frames(bytes, request)
        reader.withLock { $0 = new }
        return .success(try await desk.frame(of: new))
      } catch {
        return .failure(error)
      }
    }
  }

  private let source: Source
  /// Guards what is decoded ahead; nil before the first frame, and behind the last.
  private let ahead = Mutex<Task<Step, Never>?>(nil)
  private let isOver = Atomic(false)

  init(_ bytes: [UInt8], _ request: DecodeRequest, _ desk: DecodingDesk) {
    source = Source(bytes, request, desk)
  }

  deinit { ahead.withLock { $0 }?.cancel() }

  /// The next frame; nil behind the last, or after an error.
  func next() async throws(DecodeError) -> ImageAnimation.Frame? {
    guard !isOver.load(ordering: .relaxed) else { return nil }
    let task = ahead.withLock { $0.take() } ?? decode()
    let step = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
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
