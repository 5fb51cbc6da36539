import Synchronization

/// The end of one attempt that others wait for.
final class Event: Sendable {
  private struct State {
    var isOver = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var issued = 0
    /// Cancelled before they waited.
    var gone: Set<Int> = []
  }

  /// Guards who waits; they are resumed outside.
  private let state = Mutex(State())

  /// Returns when it is over, or when the task is cancelled.
  func wait() async {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if state.isOver || state.gone.remove(number) != nil { return true }
          state.waiters[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: number)
        if waiter == nil { state.gone.insert(number) }
        return waiter
      }
      waiter?.resume()
    }
  }

  /// Returns when it is over, or after so long, or when the task is cancelled.
  func wait(_ limit: Duration, _ time: MonotonicTime) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.wait() }
      group.addTask { try? await time.sleep(limit) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Lets all who wait go on, and who comes later.
  func signal() {
    let waiters = state.withLock { state in
      state.isOver = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }
}
