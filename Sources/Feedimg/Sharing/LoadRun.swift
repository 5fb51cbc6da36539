import FeedimgModel
import Synchronization

/// One run of a load, as it sees those who wait for it: how urgent they are, and who wants to hear of progress.
final class LoadRun: Sendable {
  typealias Listener = @Sendable (LoadProgress) -> Void

  private struct State {
    var priority: LoadPriority
    var latest: LoadProgress?
    var listeners: [LoadTable.Waiter: Listener] = [:]
    var onPriority: (@Sendable () -> Void)?
  }

  /// Guards what is known of the run; listeners are called outside.
  private let state: Mutex<State>

  init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  /// The highest of those who wait.
  var priority: LoadPriority { state.withLock { $0.priority } }

  /// Tells one listener, in place of any earlier one, whenever the priority may have changed.
  func listenToPriority(_ onPriority: (@Sendable () -> Void)?) {
    state.withLock { $0.onPriority = onPriority }
  }

  /// Tells everybody how far the transfer has come.
  func report(_ progress: LoadProgress) {
    let listeners = state.withLock { state in
      state.latest = progress
      return Array(state.listeners.values)
    }
    for listener in listeners { listener(progress) }
  }

  /// Lets one who waits hear of progress, of the latest at once.
  func listen(_ waiter: LoadTable.Waiter, _ listener: @escaping Listener) {
    let latest = state.withLock { state in
      state.listeners[waiter] = listener
      return state.latest
    }
    if let latest { listener(latest) }
  }

  func forget(_ waiter: LoadTable.Waiter) { state.withLock { $0.listeners[waiter] = nil } }

  /// Takes note of the priority; whoever listens is told by ``announce()``, when no lock is held.
  func note(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }

  func announce() { state.withLock { $0.onPriority }?() }
}
