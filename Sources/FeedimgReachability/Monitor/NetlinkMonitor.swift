package import FeedimgModel
package import FeedimgSystem
import Synchronization

/// Watches the network over netlink, on its own thread while there are listeners.
package final class NetlinkMonitor: NetworkMonitoring {
  /// Creates a watcher.
  ///
  /// It calls the closure when the network should be read again, such as after a new mark.
  package typealias WatcherMaker =
    @Sendable (_ refresh: @escaping @Sendable () -> Void) -> FileWatcher?

  private let reader: NetlinkReader
  private let makeWatcher: WatcherMaker?
  private let polling: Duration
  /// Guards the current thread.
  private let thread = Mutex<MonitorThread?>(nil)
  private let overruns = Overruns()

  /// Creates a monitor without opening a socket.
  ///
  /// - Parameters:
  ///   - reader: Reads the state of the network.
  ///   - makeWatcher: Called when the thread starts, which keeps the watcher until it ends. If it returns
  ///     nil, the
  ///     thread reads the network every few seconds.
  package convenience init(
    reader: NetlinkReader = NetlinkReader(),
    alsoWatching makeWatcher: WatcherMaker? = nil
  ) {
    self.init(reader: reader, alsoWatching: makeWatcher, polling: MonitorThread.usualPolling)
  }

  init(reader: NetlinkReader, alsoWatching makeWatcher: WatcherMaker? = nil, polling: Duration) {
    self.reader = reader
    self.makeWatcher = makeWatcher
    self.polling = polling
  }

  /// The number of times that the kernel dropped events.
  ///
  /// After each, the monitor read the whole state again.
  package var overrunCount: Int { overruns.count.load(ordering: .relaxed) }

  package func currentState() -> NetworkState { reader.currentState() }

  /// Calls back with the current state, then with each change.
  ///
  /// Reports a dearer network at once, a cheaper one after half a second, and a lost network after 1.25
  /// seconds. The monitor's thread makes the calls one after the other. Without changes, it wakes once a
  /// minute.
  ///
  /// - Parameters:
  ///   - report: Called until the observation is cancelled. It may cancel the observation itself.
  ///   - end: Called after one call of `report` if the system allows no thread.
  /// - Returns: The observation. Keep it, and cancel it in the end.
  package func observe(
    _ report: @escaping @Sendable (NetworkState) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) -> NetworkObservation {
    let listener = Listeners.Listener(report: report, end: end)
    let observation = NetworkObservation()
    guard
      let next = MonitorThread(
        reader: reader,
        alsoWatching: makeWatcher,
        polling: polling,
        noteOverrun: { [overruns] in overruns.count.add(1, ordering: .relaxed) }
      )
    else {
      report(reader.currentState())
      end()
      return observation
    }
    let joined = join(listener, observation, orBegin: next)
    if joined !== next {
      joined.wake()
    } else if !next.begin() {
      thread.withLock { if $0 === next { $0 = nil } }
    }
    return observation
  }

  /// The current state, then each change, as ``observe(_:end:)`` reports them.
  ///
  /// If the system allows no thread, the stream ends after the current state.
  package func states() -> AsyncStream<NetworkState> {
    let (states, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    let observation = observe({ continuation.yield($0) }, end: { continuation.finish() })
    continuation.onTermination = { _ in observation.cancel() }
    return states
  }

  /// Reads the network now, for example after a connection failed although the network seemed up.
  package func refresh() { thread.withLock { $0 }?.refresh() }

  private func join(
    _ listener: Listeners.Listener,
    _ observation: NetworkObservation,
    orBegin next: MonitorThread
  ) -> MonitorThread {
    thread.withLock { thread in
      if let thread, let id = thread.join(listener) {
        observation.begin { thread.leave(id) }
        return thread
      }
      if let id = next.join(listener) { observation.begin { next.leave(id) } }
      thread = next
      return next
    }
  }
}

/// An observation of the network until it is cancelled.
package final class NetworkObservation: Sendable {
  /// Ends the observation; nil before its start and after its end.
  private let leave = Mutex<(@Sendable () -> Void)?>(nil)

  init() {}

  /// Stops the calls, except for a running one.
  ///
  /// Does nothing when called again.
  package func cancel() {
    let leave = leave.withLock { $0.take() }
    leave?()
  }

  fileprivate func begin(_ leave: @escaping @Sendable () -> Void) {
    self.leave.withLock { $0 = leave }
  }
}

/// Counts overruns, also for a thread that outlives its monitor.
private final class Overruns: Sendable {
  let count = Atomic(0)
}
