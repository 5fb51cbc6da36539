import Synchronization

/// The end of one attempt from outside, which may come before it begins.
final class TransferAttempt: Sendable {
  private struct State {
    var isStopped = false
    var isMoved = false
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Whether packets have gone another way since it began.
  var isMoved: Bool { state.withLock { $0.isMoved } }

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

  /// Packets go another way from now on.
  ///
  /// - Parameter isToStop: Whether nothing that comes counts any more; ``stop()`` then ends it.
  func noteMove(isToStop: Bool) {
    state.withLock { state in
      state.isMoved = true
      if isToStop { state.isStopped = true }
    }
  }
}
