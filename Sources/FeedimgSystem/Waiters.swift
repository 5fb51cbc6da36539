import Synchronization

/// Tasks that wait for a value; each can be cancelled alone.
///
/// A caller on an actor may check its state and then call ``wait(unless:)``: nothing runs on the actor in between. A
/// caller on any thread passes the check as `unless`, and changes its state before it resumes the waiters.
package final class Waiters<Value: Sendable>: Sendable {
  private struct State: Sendable {
    /// By the order of arrival.
    var waiting: [Int: CheckedContinuation<Value?, Never>] = [:]
    var lastID = 0
  }

  /// Guards the continuations; they are resumed outside.
  private let state = Mutex(State())

  package init() {}

  /// The number of waiting tasks.
  package var count: Int { state.withLock { $0.waiting.count } }

  /// Waits for a value.
  ///
  /// - Parameter value: Called once under the lock: a value to return at once, or nil to wait.
  /// - Returns: Nil if the task is cancelled first, also before this call.
  package func wait(unless value: () -> Value? = { nil }) async -> Value? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (waits, found) = state.withLock { state -> (Bool, Value?) in
          // A cancellation after this line finds the continuation.
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

  /// Resumes the task that has waited longest.
  ///
  /// - Returns: False if no task waits.
  @discardableResult package func resumeFirst(returning value: Value) -> Bool {
    let first = state.withLock { state in
      state.waiting.keys.min().flatMap { state.waiting.removeValue(forKey: $0) }
    }
    first?.resume(returning: value)
    return first != nil
  }
}

extension Waiters<Void> {
  package func resumeAll() { resumeAll(returning: ()) }
}
