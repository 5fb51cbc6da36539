import Synchronization

/// The end of one attempt from outside, which may come before it begins.
final class TransferAttempt: Sendable {
  private struct State {
    var isStopped = false
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isStopped: Bool { state.withLock { $0.isStopped } }

  func begin(_ cancel: @escaping @Sendable () -> Void) {
    let isStopped = state.withLock { state in
      state.cancel = cancel
      return state.isStopped
    }
    if isStopped { cancel() }
  }

  func stop() {
    let cancel = state.withLock { state in
      state.isStopped = true
      return state.cancel
    }
    cancel?()
  }
}
