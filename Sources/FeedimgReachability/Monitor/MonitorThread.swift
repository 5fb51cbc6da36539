import FeedimgModel
import FeedimgSystem
import Synchronization

/// One run of the thread `feedimg-netlink`, from the first listener to the last.
///
/// Only this thread calls the listeners, so that all receive the same states in the same order.
final class MonitorThread: Sendable {
  /// The time between readings if the system reports all changes, in case it misses one.
  static let safetyPeriod = Duration.seconds(60)
  /// The time between readings if it does not.
  static let usualPolling = Duration.seconds(5)

  private let reader: NetlinkReader
  private let makeWatcher: NetlinkMonitor.WatcherMaker?
  private let polling: Duration
  /// Guards the listeners.
  ///
  /// Callbacks run outside the lock.
  private let listeners = Mutex(Listeners())
  private let waker: Waker
  private let isRefreshRequested = Atomic(false)
  private let start = SuspendingClock.now

  /// Returns nil if the process has no descriptor left.
  ///
  /// See ``NetlinkMonitor/init(reader:alsoWatching:)``. Without reports of all changes, `polling` is the time
  /// between readings.
  init?(
    reader: NetlinkReader,
    alsoWatching makeWatcher: NetlinkMonitor.WatcherMaker?,
    polling: Duration
  ) {
    guard let waker = Waker() else { return nil }
    self.waker = waker
    self.reader = reader
    self.makeWatcher = makeWatcher
    self.polling = polling
  }

  /// Adds a listener, which receives nothing before the next ``wake()``.
  ///
  /// - Returns: Nil if the last listener has already left.
  func join(_ listener: Listeners.Listener) -> Listeners.ID? { listeners.withLock { $0.join(listener) } }

  /// Removes a listener.
  ///
  /// The thread ends with the last one.
  func leave(_ id: Listeners.ID) {
    if listeners.withLock({ $0.leave(id) }) { waker.wake() }
  }

  /// Makes the thread notify new listeners of the current state.
  func wake() { waker.wake() }

  /// Makes the thread read the network now.
  func refresh() {
    isRefreshRequested.store(true, ordering: .relaxed)
    waker.wake()
  }

  /// Starts the thread.
  ///
  /// - Returns: Whether the system allowed one. If not, the listeners receive the current state and the end.
  func begin() -> Bool {
    let isGranted = SystemThread.start("feedimg-netlink") { self.run() }
    if !isGranted {
      let state = reader.freshState()
      for listener in listeners.withLock({ $0.takeAll() }) {
        listener.report(state)
        listener.end()
      }
    }
    return isGranted
  }

  private func run() {
    // Open both before the first reading, so that no change is missed in between.
    let sources = EventSources(waker: waker)
    let watcher = makeWatcher? { [weak self] in self?.refresh() }
    let receivesAll = sources.events.netlink != nil && (makeWatcher == nil || watcher != nil)
    var watch = NetworkWatch(period: receivesAll ? Self.safetyPeriod : polling)
    while !listeners.withLock({ $0.isOver }) {
      switch watch.step(at: now) {
      case .read:
        // The reader may not have seen the events yet that woke this thread.
        let state = reader.freshState()
        watch.observed(state, at: now)
      case .drain:
        let drained = drain(sources)
        watch.drained(drained, at: now)
      case .publish(let state):
        for listener in listeners.withLock({ $0.takeAll() }) { listener.report(state) }
      case .sleep(let until, let orEvent):
        if let state = watch.published {
          for listener in listeners.withLock({ $0.takeNew() }) { listener.report(state) }
        }
        sources.events.listen(to: reader.services)
        let wake = sources.wait(atMost: until - now, orEvent: orEvent)
        let isRequested = wake.isCalled && isRefreshRequested.exchange(false, ordering: .relaxed)
        if isRequested || wake.isResumed { watch.woke(at: now) }
        if wake.hasEvents {
          let events = drain(sources)
          watch.received(events, at: now)
        }
      }
    }
    withExtendedLifetime(watcher) {}
  }

  private func drain(_ sources: EventSources) -> NetworkWatch.Events {
    let events = sources.events.drain()
    if events == .overrun { reader.overruns.add(1, ordering: .relaxed) }
    return events
  }

  /// The time on poll(2)'s clock, which stops while the machine sleeps.
  private var now: Duration { start.duration(to: SuspendingClock.now) }
}
