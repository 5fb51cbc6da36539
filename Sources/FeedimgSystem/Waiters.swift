import Synchronization

/// Tasks that wait for a value; each can be cancelled separately.
///
/// A caller on an actor may check its state and then call ``wait(unless:)``, since nothing runs on the actor
/// in between. Other callers pass the check as `unless`, and change their state before they resume the
/// waiters.
package final class Waiters<Value: Sendable>: Sendable {
  private struct State: Sendable {
    /// The continuations, by a number that grows in the order of arrival.
    var waiting: [Int: CheckedContinuation<Value?, Never>] = [:]
    var lastID = 0
  }

  /// The continuations; they are resumed outside the lock.
  private let state = Mutex(State())

  package init() {}

  /// The number of waiting tasks.
  package var count: Int { state.withLock { $0.waiting.count } }

  /// Waits for a value.
  ///
  /// - Parameter value: Returns the value if it is already known, or nil to wait; called once under the lock.
  /// - Returns: Nil if the task is cancelled first.
  package func wait(unless value: () -> Value? = { nil }) async -> Value? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (waits, found) = state.withLock { state -> (Bool, Value?) in
          // After a later cancellation, `onCancel` finds the continuation.
          if Task.isCancelled { return (false, nil) }
          if let value = value() { return (false, value) }
          state.waiting[id] = continuation
          return (true, nil)
        }
        if !waits { continuation.resume(returning: found) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
    }
  }

  /// Resumes all waiting tasks, in the order of arrival.
  package func resumeAll(returning value: Value) {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) { continuation.resume(returning: value) }
  }
}

extension Waiters<Void> {
  package func resumeAll() { resumeAll(returning: ()) }
}
