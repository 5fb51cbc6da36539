public import FeedimgModel
import FeedimgPipeline
import FeedimgReachability
import FeedimgSettings
import FeedimgSystem
import Synchronization

/// The active network of this machine, seen by netlink; needs no daemon and no privilege.
///
/// NetworkManager, ModemManager and in a sandbox the desktop's portal are asked where they run, and the marks of the
/// user heeded.
public struct NetworkStatus: Sendable {
  private let monitor: NetlinkMonitor
  /// Nil where no folder is known: then no network is marked.
  private let settings: SettingsStore?

  /// Opens nothing before it is asked.
  ///
  /// - Parameter configuration: Only the folder of the settings and the environment count.
  public init(_ configuration: ImageLoader.Configuration = ImageLoader.Configuration()) {
    let settings = (try? Folders(configuration).configuration).map { SettingsStore(folder: $0) }
    self.settings = settings
    let services = NetworkServices(of: configuration)
    let reader = NetlinkReader(
      services: services,
      mark: { identity in settings?.currentSettings().mark(of: identity) }
    )
    guard let settings else {
      monitor = NetlinkMonitor(reader: reader)
      return
    }
    monitor = NetlinkMonitor(reader: reader, alsoWatching: { settings.watchMarks($0) })
  }

  init(_ monitor: NetlinkMonitor, _ settings: SettingsStore) {
    (self.monitor, self.settings) = (monitor, settings)
  }

  /// What the user should know of the settings that hold the marks; each thing once, a line each.
  public var warnings: [String] { settings?.takeWarnings() ?? [] }

  /// The state now; takes microseconds, with services on the bus a millisecond, and sends no packet.
  public var state: NetworkState { monitor.currentState() }

  /// How often more changes came at once than the system could hold; the state was looked at anew each time.
  public var overrunCount: Int { monitor.overrunCount }

  /// Calls back with the state at once, then with each change, never the same twice in a row; a new mark is a change
  /// too.
  ///
  /// This is the quiet way to watch: one thread sleeps until the network or a mark changes, but for a look once a
  /// minute. Swift's tasks, by which ``states()`` is read, wake each second for their own ends.
  ///
  /// - Parameter tell: Called on that thread, one call after the other.
  /// - Returns: The watching, which goes on until it is cancelled or let go; nil where the system grants no thread.
  public func watch(_ tell: @escaping @Sendable (NetworkState) -> Void) -> NetworkWatching? {
    let hasEnded = Mutex(false)
    let observation = monitor.observe(tell, end: { hasEnded.withLock { $0 = true } })
    return hasEnded.withLock { $0 } ? nil : NetworkWatching(observation)
  }

  /// The state at once, then each change, as ``watch(_:)`` tells it.
  ///
  /// - Returns: A stream that ends when its consumer leaves.
  public func states() -> AsyncStream<NetworkState> { monitor.states() }
}

/// The watching of the network by a program, until it is cancelled or let go.
public final class NetworkWatching: Sendable {
  private let observation: NetworkObservation

  init(_ observation: NetworkObservation) { self.observation = observation }

  deinit { observation.cancel() }

  /// Ends it; but for a call that is under way, nothing is told any more.
  public func cancel() { observation.cancel() }
}

extension SettingsStore {
  /// Calls back when the user marks a network; other settings make no difference.
  ///
  /// - Returns: The watcher, which calls back as long as it lives; nil where the system grants no thread.
  func watchMarks(_ onChange: @escaping @Sendable () -> Void) -> FileWatcher? {
    let known = Mutex(currentSettings().markedNetworks)
    return FileWatcher([file.path]) { [self] in
      let marks = currentSettings().markedNetworks
      let isNew = known.withLock { known in
        defer { known = marks }
        return marks != known
      }
      if isNew { onChange() }
    }
  }
}
