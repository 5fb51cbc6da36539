import Synchronization

/// The result of an operation that runs once, shared by all callers.
///
/// Callers resume in the order in which they asked, because they then wait for slots in that order. A task
/// would resume the callers of its value in reverse order.
final class SharedAnswer<Value: Sendable>: Sendable {
  private enum State {
    case unasked
    case asked([CheckedContinuation<Value, Never>])
    case answered(Value)
  }

  private let ask: @Sendable () async -> Value
  /// Guards the waiting callers; they resume outside the lock.
  private let state = Mutex(State.unasked)

  /// - Parameter ask: The operation, which runs when the first caller asks for the result.
  init(_ ask: @escaping @Sendable () async -> Value) { self.ask = ask }

  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let (value, isFirst) = state.withLock { state -> (Value?, Bool) in
          switch state {
          case .unasked:
            state = .asked([continuation])
            return (nil, true)
          case .asked(let waiters):
            state = .asked(waiters + [continuation])
            return (nil, false)
          case .answered(let value): return (value, false)
          }
        }
        if let value { continuation.resume(returning: value) }
        if isFirst { Task { answered(await ask()) } }
      }
    }
  }

  private func answered(_ value: Value) {
    let waiters = state.withLock { state in
      defer { state = .answered(value) }
      if case .asked(let waiters) = state { return waiters }
      return []
    }
    for waiter in waiters { waiter.resume(returning: value) }
  }
}
