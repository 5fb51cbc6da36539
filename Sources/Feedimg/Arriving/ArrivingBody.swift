package import FeedimgModel
import Synchronization

/// A body that comes while others read it already, each at its own pace.
///
/// What has come is kept until nobody refers to the body, so that a slow reader slows down nobody; bodies have a limit.
package final class ArrivingBody: Sendable {
  private struct State {
    var chunks: [[UInt8]] = []
    var count = 0
    var end: Result<Void, LoadError>?
    var waiters: [Int: Waiter] = [:]
    var issued = 0
  }

  private struct Waiter {
    var index: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  /// Guards what has come; who waits is resumed outside.
  private let state = Mutex(State())

  package init() {}

  /// How many bytes have come.
  package var count: Int { state.withLock { $0.count } }

  /// Adds bytes, of which those before ``count`` are known already.
  ///
  /// - Parameters:
  ///   - bytes: Gone after the call.
  ///   - position: Where in the body they stand; never behind its end.
  func append(_ bytes: UnsafeRawBufferPointer, at position: Int) {
    resume {
      guard $0.end == nil, position <= $0.count, position + bytes.count > $0.count else { return }
      let fresh = UnsafeRawBufferPointer(rebasing: bytes[($0.count - position)...])
      $0.chunks.append(Array(fresh))
      $0.count += fresh.count
    }
  }

  /// Ends the body; only the first end counts.
  ///
  /// - Parameter error: Why it is not whole; nil where it is.
  func end(_ error: LoadError? = nil) {
    resume { state in
      if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
    }
  }

  /// The next part; waits for it.
  ///
  /// - Parameter index: Counts the parts from 0.
  /// - Returns: Never empty; nil at the end.
  /// - Throws: ``LoadError`` where the body breaks off; `cancelled` where the task was.
  package func chunk(_ index: Int) async throws(LoadError) -> [UInt8]? {
    while true {
      let (chunk, end) = state.withLock {
        ($0.chunks.indices.contains(index) ? $0.chunks[index] : nil, $0.end)
      }
      if let chunk { return chunk }
      if let end {
        try end.get()
        return nil
      }
      guard !Task.isCancelled else { throw LoadError(.cancelled, message: "cancelled") }
      await arrival(of: index)
    }
  }

  /// Returns when there is news, or the task is cancelled.
  private func arrival(of index: Int) async {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isNeedless = state.withLock { state in
          guard state.chunks.count <= index, state.end == nil, !Task.isCancelled else { return true }
          state.waiters[number] = Waiter(index: index, continuation: continuation)
          return false
        }
        if isNeedless { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
    }
  }

  private func resume(after change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      let isEnded = state.end != nil
      let ready = state.waiters.filter { isEnded || $0.value.index < state.chunks.count }
      for number in ready.keys { state.waiters[number] = nil }
      return ready
    }
    for waiter in ready.values { waiter.continuation.resume() }
  }
}
