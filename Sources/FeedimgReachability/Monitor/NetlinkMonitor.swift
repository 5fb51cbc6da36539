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

  /// Creates a monitor without opening a socket.
  ///
  /// - Parameters:
  ///   - reader: Reads the state of the network.
  ///   - makeWatcher: Called when the thread starts, which keeps the watcher until it ends. If it returns nil, the
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
  package var overrunCount: Int { reader.overruns.load(ordering: .relaxed) }

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
  /// - Returns: Cancels the observation, except for a running call; does nothing when called again.
  package func observe(
    _ report: @escaping @Sendable (NetworkState) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) -> @Sendable () -> Void {
    let listener = Listeners.Listener(report: report, end: end)
    guard let next = MonitorThread(reader: reader, alsoWatching: makeWatcher, polling: polling) else {
      report(reader.currentState())
      end()
      return {}
    }
    let (joined, id) = join(listener, orBegin: next)
    if joined !== next {
      joined.wake()
    } else if !next.begin() {
      thread.withLock { if $0 === next { $0 = nil } }
    }
    return { if let id { joined.leave(id) } }
  }

  /// The current state, then each change, as ``observe(_:end:)`` reports them.
  ///
  /// If the system allows no thread, the stream ends after the current state.
  package func states() -> AsyncStream<NetworkState> {
    let (states, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    let cancel = observe({ continuation.yield($0) }, end: { continuation.finish() })
    continuation.onTermination = { _ in cancel() }
    return states
  }

  /// Reads the network now, for example after a connection failed although the network seemed up.
  package func refresh() { thread.withLock { $0 }?.refresh() }

  private func join(
    _ listener: Listeners.Listener,
    orBegin next: MonitorThread
  ) -> (MonitorThread, Listeners.ID?) {
    thread.withLock { thread in
      if let thread, let id = thread.join(listener) { return (thread, id) }
      thread = next
      return (next, next.join(listener))
    }
  }
}
