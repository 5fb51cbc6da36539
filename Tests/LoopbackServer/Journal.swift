import Synchronization

/// The log of a server, and the tasks that wait for entries in it.
final class Journal: Sendable {
  private struct Watch {
    var isMet: @Sendable (ServerLog) -> Bool
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var log = ServerLog()
    var watches: [Watch] = []
  }

  private let state = Mutex(State())

  var log: ServerLog { state.withLock { $0.log } }

  func record(_ change: (inout ServerLog) -> Void) {
    let met = state.withLock { state -> [Watch] in
      change(&state.log)
      let met = state.watches.filter { $0.isMet(state.log) }
      state.watches.removeAll { $0.isMet(state.log) }
      return met
    }
    for watch in met { watch.continuation.resume() }
  }

  /// Counts a new connection.
  func open() -> Int {
    var number = 0
    record { log in
      number = log.opened
      log.opened += 1
    }
    return number
  }

  func reaches(_ isMet: @escaping @Sendable (ServerLog) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetAlready = state.withLock { state in
        if isMet(state.log) { return true }
        state.watches.append(Watch(isMet: isMet, continuation: continuation))
        return false
      }
      if isMetAlready { continuation.resume() }
    }
  }
}
