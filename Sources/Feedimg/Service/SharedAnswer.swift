import Synchronization

/// A value that is requested once, for all callers.
///
/// Callers resume in the order in which they came; those that wait for the value of a task would resume in reverse.
final class SharedResponse<Value: Sendable>: Sendable {
  private enum State {
    case idle
    case requested([CheckedContinuation<Value, Never>])
    case received(Value)
  }

  private let request: @Sendable () async -> Value
  /// Guards the callers that wait; they are resumed outside.
  private let state = Mutex(State.idle)

  /// - Parameter request: Gets the value; called for the first caller.
  init(_ request: @escaping @Sendable () async -> Value) { self.request = request }

  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let (value, isFirst) = state.withLock { state -> (Value?, Bool) in
          switch state {
          case .idle:
            state = .requested([continuation])
            return (nil, true)
          case .requested(let waiters):
            state = .requested(waiters + [continuation])
            return (nil, false)
          case .received(let value): return (value, false)
          }
        }
        if let value { continuation.resume(returning: value) }
        if isFirst { Task { received(await request()) } }
      }
    }
  }

  private func received(_ value: Value) {
    let waiters = state.withLock { state in
      defer { state = .received(value) }
      if case .requested(let waiters) = state { return waiters }
      return []
    }
    for waiter in waiters { waiter.resume(returning: value) }
  }
}
