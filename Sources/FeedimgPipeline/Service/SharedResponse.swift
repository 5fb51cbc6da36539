import Synchronization

/// The result of an operation that runs once, shared by all callers.
///
/// Callers resume in the order in which they asked, because they then wait for slots in that order. A task
/// would resume the callers of its value in reverse order.
final class SharedResponse<Value: Sendable>: Sendable {
  private enum State {
    case idle
    case requested([CheckedContinuation<Value, Never>])
    case received(Value)
  }

  private let request: @Sendable () async -> Value
  /// Guards the callers that wait; they resume outside the lock.
  private let state = Mutex(State.idle)

  /// - Parameter request: The operation, which runs when the first caller asks for the value.
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
