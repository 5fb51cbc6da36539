import FeedimgModel
import FeedimgSystem
import Synchronization

/// The threads `feedimg-decode`, which start with the first jobs and sleep without work.
final class DecodingThreads: Sendable {
  /// The calls that have a thread, or wait for one.
  let places: PriorityWaiters<Int>
  /// The threads without a job, the last used one at the end.
  private let idle = Mutex<[ThreadExecutor]>([])

  /// - Parameter width: The most threads.
  init(width: Int) { places = PriorityWaiters(places: width) }

  deinit { for thread in idle.withLock({ $0 }) { thread.stop() } }

  /// Runs the body on one of the threads, in the order of the calls; cancellation stops it, or ends the wait for a thread.
  ///
  /// Concurrent, so that a thread becomes free although the caller's actor is busy.
  @concurrent func run<Value: Sendable>(
    _ stop: CancellationFlag,
    _ body: @escaping @Sendable () throws(DecodeError) -> Value
  ) async throws(DecodeError) -> Value {
    let ticket = places.enter(0)
    defer { places.leave(ticket) }
    guard await places.place(ticket) else {
      stop.set()
      throw DecodeError(.cancelled, "decoding was cancelled")
    }
    let thread = idle.withLock { $0.popLast() } ?? ThreadExecutor("feedimg-decode")
    defer { idle.withLock { $0.append(thread) } }
    let result = await withTaskCancellationHandler {
      await thread.run { Result { () throws(DecodeError) in try body() } }
    } onCancel: {
      stop.set()
    }
    return try result.get()
  }
}
