import FeedimgModel
import Synchronization

/// One run of a load, as it sees those who wait for it: how urgent they are, and who wants to hear of progress.
final class LoadRun: Sendable {
  /// Hears how far the transfer has come, and whether it is the first of those who wait, with whom bytes count.
  typealias Listener = @Sendable (LoadProgress, LoadRun, _ isFirst: Bool) -> Void
  /// Looks at what has come of a body.
  typealias ScanSource = @Sendable () -> ArrivingScans.Scan?
  typealias Audience = @Sendable (Arrival) -> Void

  private struct State {
    var priority: LoadPriority
    /// Who came before all others who wait.
    var first: LoadTable.Waiter?
    var latest: LoadProgress?
    var listeners: [LoadTable.Waiter: Listener] = [:]
    var arrival: Arrival?
    var audiences: [LoadTable.Waiter: Audience] = [:]
    var onPriority: (@Sendable () -> Void)?
    var scans: (url: ImageURL, source: ScanSource)?
    var isLeft = false
    /// Whether what comes was asked for by somebody beyond this program, with whom it counts.
    var isPaidElsewhere = false
  }

  /// Guards what is known of the run; listeners are called outside.
  private let state: Mutex<State>

  init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  /// The highest of those who wait.
  var priority: LoadPriority { state.withLock { $0.priority } }

  /// Whether nobody waits any more, so that no more of the answer is wanted.
  var isLeft: Bool { state.withLock { $0.isLeft } }

  func leave() { state.withLock { $0.isLeft = true } }

  /// Whether what comes was asked for by somebody beyond this program.
  var isPaidElsewhere: Bool { state.withLock { $0.isPaidElsewhere } }

  /// Whether what comes from now on counts with nobody of those who wait.
  func note(isPaidElsewhere: Bool) { state.withLock { $0.isPaidElsewhere = isPaidElsewhere } }

  /// Tells everybody how far the transfer has come, and ends it where the last of them leaves for that.
  ///
  /// - Throws: `cancelled`, so that no more of the answer comes.
  func reportIfWanted(_ progress: LoadProgress) throws(LoadError) {
    report(progress)
    if isLeft { throw LoadError(.cancelled, message: "nobody waits for it any more") }
  }

  /// Tells one listener, in place of any earlier one, whenever the priority may have changed.
  func listenToPriority(_ onPriority: (@Sendable () -> Void)?) {
    state.withLock { $0.onPriority = onPriority }
  }

  /// Tells everybody how far the transfer has come.
  func report(_ progress: LoadProgress) {
    let listeners = state.withLock { state in
      state.latest = progress
      let first = state.isPaidElsewhere ? nil : state.first
      return state.listeners.map { (tell: $0.value, isFirst: $0.key == first) }
    }
    for listener in listeners { listener.tell(progress, self, listener.isFirst) }
  }

  /// How far the transfer has come; nil before anything has.
  var latest: LoadProgress? { state.withLock { $0.latest } }

  /// Lets one who waits hear of progress, of the latest at once.
  func listen(_ waiter: LoadTable.Waiter, _ listener: @escaping Listener) {
    let (latest, isFirst) = state.withLock { state in
      state.listeners[waiter] = listener
      return (state.latest, !state.isPaidElsewhere && state.first == waiter)
    }
    if let latest { listener(latest, self, isFirst) }
  }

  func forget(_ waiter: LoadTable.Waiter) {
    state.withLock { state in
      state.listeners[waiter] = nil
      state.audiences[waiter] = nil
    }
  }

  // MARK: The answer as it comes

  /// Whether anybody wants the answer before it is whole.
  var hasAudience: Bool { state.withLock { !$0.audiences.isEmpty } }

  /// The answer that is coming; of one run the first alone is handed on.
  var arrival: Arrival? { state.withLock { $0.arrival } }

  /// Tells everybody who wants to know that the answer has begun to come.
  func arrive(_ arrival: Arrival) {
    let audiences = state.withLock { state in
      state.arrival = arrival
      return Array(state.audiences.values)
    }
    for audience in audiences { audience(arrival) }
  }

  /// Lets one who waits have the answer as it comes, at once where it has begun to.
  func listen(_ waiter: LoadTable.Waiter, toArrival audience: @escaping Audience) {
    let arrival = state.withLock { state in
      state.audiences[waiter] = audience
      return state.arrival
    }
    if let arrival { audience(arrival) }
  }

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

  /// Takes note of who came before all others who wait.
  func note(first: LoadTable.Waiter) { state.withLock { $0.first = first } }

  func announce() { state.withLock { $0.onPriority }?() }
}
