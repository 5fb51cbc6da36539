import Synchronization

/// Opens once and stays open; any number of tasks may wait for it.
final class Latch: Sendable {
  private enum State {
    case closed(waiting: [CheckedContinuation<Void, Never>])
    case open
  }

  private let state = Mutex(State.closed(waiting: []))

  func open() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard case .closed(let waiting) = state else { return [] }
      state = .open
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func opened() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        guard case .closed(let waiting) = state else { return true }
        state = .closed(waiting: waiting + [continuation])
        return false
      }
      if isOpen { continuation.resume() }
    }
  }
}
