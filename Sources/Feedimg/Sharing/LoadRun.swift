import FeedimgModel
import Synchronization

/// One run of a load, as it sees those who wait for it: how urgent they are, and who wants to hear of progress.
final class LoadRun: Sendable {
  typealias Listener = @Sendable (LoadProgress, LoadRun) -> Void
  /// Looks at what has come of a body.
  typealias ScanSource = @Sendable () -> ArrivingScans.Scan?

  private struct State {
    var priority: LoadPriority
    var latest: LoadProgress?
    var listeners: [LoadTable.Waiter: Listener] = [:]
    var onPriority: (@Sendable () -> Void)?
    var scans: (url: ImageURL, source: ScanSource)?
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
    for listener in listeners { listener(progress, self) }
  }

  /// Lets one who waits hear of progress, of the latest at once.
  func listen(_ waiter: LoadTable.Waiter, _ listener: @escaping Listener) {
    let latest = state.withLock { state in
      state.listeners[waiter] = listener
      return state.latest
    }
    if let latest { listener(latest, self) }
  }

  func forget(_ waiter: LoadTable.Waiter) { state.withLock { $0.listeners[waiter] = nil } }

  /// Lets those who wait look at what has come of a body; nobody looks unless somebody wants to show it.
  func setScans(of url: ImageURL, _ source: ScanSource?) {
    state.withLock { state in state.scans = source.map { (url, $0) } }
  }

  /// The latest scan that is worth to be shown, with what it is of; nil where there is none.
  func scan() -> (ImageURL, ArrivingScans.Scan)? {
    guard let (url, source) = state.withLock({ $0.scans }), let scan = source() else { return nil }
    return (url, scan)
  }

  /// Takes note of the priority; whoever listens is told by ``announce()``, when no lock is held.
  func note(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }

  func announce() { state.withLock { $0.onPriority }?() }
}
