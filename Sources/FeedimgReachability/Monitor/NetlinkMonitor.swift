package import FeedimgModel
package import FeedimgSystem
import Synchronization

/// Watches the network over netlink, on a thread of its own while there are listeners.
package final class NetlinkMonitor: NetworkMonitoring {
  /// Makes a watcher that calls the closure when the network should be looked at again, such as after a new mark.
  package typealias WatcherMaker =
    @Sendable (_ lookAgain: @escaping @Sendable () -> Void) -> FileWatcher?

  private let reader: NetlinkReader
  private let makeWatcher: WatcherMaker?
  private let polling: Duration
  /// Guards which thread runs.
  private let thread = Mutex<MonitorThread?>(nil)
  private let overruns = Overruns()

  /// Makes a monitor, which opens nothing yet.
  ///
  /// - Parameters:
  ///   - reader: Reads the state of the network.
  ///   - makeWatcher: Called when the thread starts; it keeps the watcher until it ends. Where there is none, the
  ///     thread looks every few seconds.
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

  /// The number of times that the kernel dropped events; each time the whole state was read again.
  package var overrunCount: Int { overruns.count.load(ordering: .relaxed) }

  package func currentState() -> NetworkState { reader.currentState() }

  /// Calls back with the present state, then with each change.
  ///
  /// A change that costs more is told at once, one that costs less after half a second, and being offline after some
  /// more. Calls come one after the other, on the thread that watches. While nothing changes it sleeps, except for one
  /// look a minute.
  ///
  /// - Parameters:
  ///   - tell: Called until the observation is cancelled; it may cancel the observation.
  ///   - end: Called where the system grants no thread, after one call of `tell`.
  /// - Returns: The observation, to be held on to and cancelled.
  package func observe(
    _ tell: @escaping @Sendable (NetworkState) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) -> NetworkObservation {
    let listener = Listeners.Listener(tell: tell, end: end)
    let observation = NetworkObservation()
    guard
      let next = MonitorThread(
        reader: reader,
        alsoWatching: makeWatcher,
        polling: polling,
        noteOverrun: { [overruns] in overruns.count.add(1, ordering: .relaxed) }
      )
    else {
      tell(reader.currentState())
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

  /// The present state at once, then each change, as ``observe(_:end:)`` tells it.
  ///
  /// Where the system grants no thread, the stream ends after the present state.
  package func states() -> AsyncStream<NetworkState> {
    let (states, continuation) = AsyncStream.makeStream(of: NetworkState.self)
    let observation = observe({ continuation.yield($0) }, end: { continuation.finish() })
    continuation.onTermination = { _ in observation.cancel() }
    return states
  }

  /// Looks at the network now, such as after a connection that failed although the network seemed up.
  package func lookAgain() { thread.withLock { $0 }?.lookAgain() }

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
  /// Ends it; nil before it begins and after its end.
  private let leave = Mutex<(@Sendable () -> Void)?>(nil)

  init() {}

  /// Ends the calls, except for one that is under way; later calls do nothing.
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
