import Synchronization

/// The answer to a question that is asked once, for all who want to know.
///
/// They hear it in the order in which they came, as they go on to wait for places, where the first is served first;
/// who waits for the value of a task is woken the last first.
final class SharedAnswer<Value: Sendable>: Sendable {
  private enum State {
    case unasked
    case asked([CheckedContinuation<Value, Never>])
    case answered(Value)
  }

  private let ask: @Sendable () async -> Value
  /// Guards who waits; nobody is woken and nothing asked under it.
  private let state = Mutex(State.unasked)

  /// - Parameter ask: Finds the answer; called when somebody first wants to know.
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
