package import FeedimgModel
package import FeedimgSystem
import Synchronization

/// Watches the network over netlink, on the thread `feedimg-netlink` while there are listeners.
///
/// Only this thread calls the listeners, so that all receive the same states in the same order.
package final class NetlinkMonitor: NetworkMonitoring {
  /// Creates a watcher.
  ///
  /// It calls the closure when the network should be read again, such as after a new mark.
  package typealias WatcherMaker =
    @Sendable (_ refresh: @escaping @Sendable () -> Void) -> FileWatcher?

  private typealias Report = @Sendable (NetworkState) -> Void

  private struct Listeners {
    var reports: [Int: Report] = [:]
    /// The listeners that have received no state.
    var new: Set<Int> = []
    var nextID = 0
    /// Wakes the thread; nil if none runs.
    var waker: Waker?

    /// All listeners, to notify them of a change.
    mutating func takeAll() -> [Report] {
      new = []
      return Array(reports.values)
    }

    /// The new listeners, to notify them of the current state.
    mutating func takeNew() -> [Report] {
      defer { new = [] }
      return new.compactMap { reports[$0] }
    }
  }

  /// The time between readings if the system reports all changes, in case it misses one.
  private static let safetyPeriod = Duration.seconds(60)
  /// The time between readings if it does not.
  package static let usualPolling = Duration.seconds(5)

  private let reader: NetlinkReader
  private let makeWatcher: WatcherMaker?
  private let polling: Duration
  /// Guards the listeners, which are called outside the lock.
  private let listeners = Mutex(Listeners())
  private let isRefreshRequested = Atomic(false)
  private let start = SuspendingClock.now

  /// Creates a monitor without opening a socket.
  ///
  /// - Parameters:
  ///   - reader: Reads the state of the network.
  ///   - makeWatcher: Called when the thread starts, which keeps the watcher until it ends. If it returns nil, the
  ///     thread reads the network every few seconds.
  ///   - polling: The time between readings unless the system reports all changes.
  package init(
    reader: NetlinkReader = NetlinkReader(),
    alsoWatching makeWatcher: WatcherMaker? = nil,
    polling: Duration = usualPolling
  ) {
    self.reader = reader
    self.makeWatcher = makeWatcher
    self.polling = polling
  }

  package func currentState() -> NetworkState { reader.currentState() }

  /// Calls back with the current state, then with each change.
  ///
  /// Reports a dearer network at once, a cheaper one after half a second, and a lost network after 1.25
  /// seconds. The monitor's thread makes the calls one after the other. Without changes, it wakes once a
  /// minute.
  ///
  /// - Parameter report: Called until the observation is cancelled. It may cancel the observation itself.
  /// - Returns: Cancels the observation, except for a running call; does nothing when called again. Nil if the
  ///   system allows no thread; there is then no call.
  package func observe(
    _ report: @escaping @Sendable (NetworkState) -> Void
  ) -> (@Sendable () -> Void)? {
    let id: Int? = listeners.withLock { listeners in
      if let waker = listeners.waker {
        waker.wake()
      } else {
        guard let waker = Waker(), SystemThread.start("feedimg-netlink", { self.run(waker) }) else {
          return nil
        }
        listeners.waker = waker
      }
      listeners.nextID += 1
      listeners.reports[listeners.nextID] = report
      listeners.new.insert(listeners.nextID)
      return listeners.nextID
    }
    guard let id else { return nil }
    return { self.leave(id) }
  }

  /// The current state, then each change, as ``observe(_:)`` reports them.
  ///
  /// If the system allows no thread, the stream ends after the current state.
  package func states() -> AsyncStream<NetworkState> {
    let (states, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    guard let cancel = observe({ continuation.yield($0) }) else {
      continuation.yield(currentState())
      continuation.finish()
      return states
    }
    continuation.onTermination = { _ in cancel() }
    return states
  }

  /// Reads the network now, for example after more services became available, or after a new mark.
  package func refresh() {
    listeners.withLock { listeners in
      guard let waker = listeners.waker else { return }
      isRefreshRequested.store(true, ordering: .relaxed)
      waker.wake()
    }
  }

  private func leave(_ id: Int) {
    // The closure is released outside the lock.
    _ = listeners.withLock { listeners in
      let report = listeners.reports.removeValue(forKey: id)
      if listeners.reports.isEmpty { listeners.waker?.wake() }
      return report
    }
  }

  /// Whether the thread has listeners.
  ///
  /// If not, the thread must end, and the next listener starts another one.
  private func hasListeners() -> Bool {
    listeners.withLock { listeners in
      if listeners.reports.isEmpty { listeners.waker = nil }
      return listeners.waker != nil
    }
  }

  private func run(_ waker: Waker) {
    // Open both before the first reading, so that no change is missed in between.
    let sources = EventSources(waker: waker)
    let watcher = makeWatcher? { [weak self] in self?.refresh() }
    let receivesAll = sources.events.netlink != nil && (makeWatcher == nil || watcher != nil)
    var watch = NetworkWatch(period: receivesAll ? Self.safetyPeriod : polling)
    while hasListeners() {
      switch watch.step(at: now) {
      case .read:
        // The reader may not have seen the events yet that woke this thread.
        let state = reader.freshState()
        watch.observed(state, at: now)
      case .drain:
        watch.received(sources.events.drain(), at: now)
      case .publish(let state):
        for report in listeners.withLock({ $0.takeAll() }) { report(state) }
      case .sleep(let until, let orEvent):
        if let state = watch.published {
          for report in listeners.withLock({ $0.takeNew() }) { report(state) }
        }
        sources.events.listen(to: reader.services)
        let wake = sources.wait(atMost: until - now, orEvent: orEvent)
        let isRequested = isRefreshRequested.exchange(false, ordering: .relaxed)
        if isRequested || wake.isResumed { watch.woke(at: now) }
        if wake.hasEvents { watch.received(sources.events.drain(), at: now) }
      }
    }
    withExtendedLifetime(watcher) {}
  }

  /// The time on poll(2)'s clock, which stops while the machine sleeps.
  private var now: Duration { start.duration(to: SuspendingClock.now) }
}
