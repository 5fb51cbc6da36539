import Feedimg
import Synchronization

/// The running prefetches of all clients, by their identifiers.
final class PrefetchRegistry: Sendable {
  private struct State {
    var running: [String: Prefetch] = [:]
    var isEnded = false
  }

  /// Guards the prefetches; they are stopped outside.
  private let state = Mutex(State())

  /// Adds a prefetch, which stops at once if the service is stopping.
  ///
  /// - Parameter prefetch: The prefetch, which is kept until it is removed.
  /// - Returns: Its identifier, which no prefetch of another run of the service has.
  func add(_ prefetch: Prefetch) -> String {
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    let isEnded = state.withLock { state in
      state.running[id] = prefetch
      return state.isEnded
    }
    if isEnded { prefetch.stop() }
    return id
  }

  /// Removes a prefetch that has ended.
  func remove(_ id: String) {
    // Released outside the lock.
    _ = state.withLock { $0.running.removeValue(forKey: id) }
  }

  /// Stops a prefetch.
  ///
  /// - Returns: False if no such prefetch is running.
  func stop(_ id: String) -> Bool {
    let prefetch = state.withLock { $0.running[id] }
    prefetch?.stop()
    return prefetch != nil
  }

  /// Stops all prefetches, later ones included.
  func end() {
    let prefetches = state.withLock { state in
      state.isEnded = true
      return Array(state.running.values)
    }
    for prefetch in prefetches { prefetch.stop() }
  }
}
