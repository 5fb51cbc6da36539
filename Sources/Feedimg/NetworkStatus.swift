public import FeedimgModel
import FeedimgReachability
import FeedimgSettings

/// The active network of this machine, seen by netlink; needs no daemon and no privilege.
///
/// NetworkManager and ModemManager are asked where they run, and the marks of the user heeded.
public struct NetworkStatus: Sendable {
  private let monitor: NetlinkMonitor
  /// Nil where no folder is known: then no network is marked.
  private let settings: SettingsStore?

  /// Opens nothing before it is asked.
  ///
  /// - Parameter configuration: Only the folder of the settings counts, for the marks of networks.
  public init(_ configuration: ImageLoader.Configuration = ImageLoader.Configuration()) {
    let settings = (try? Folders(configuration).configuration).map { SettingsStore(folder: $0) }
    self.settings = settings
    monitor = NetlinkMonitor(
      reader: NetlinkReader(
        bus: .system,
        mark: { identity in settings?.currentSettings().mark(of: identity) }
      )
    )
  }

  /// What the user should know of the settings that hold the marks; each thing once, a line each.
  public var warnings: [String] { settings?.takeWarnings() ?? [] }

  /// The state now; takes microseconds, with services on the bus a millisecond, and sends no packet.
  public var state: NetworkState { monitor.currentState() }

  /// The state at once, then each change, never the same twice in a row; a new mark is a change too.
  ///
  /// - Returns: A stream that ends when its consumer leaves.
  public func states() -> AsyncStream<NetworkState> {
    let states = monitor.states()
    guard let changes = settings?.changes() else { return states }
    return AsyncStream { continuation in
      let looking = Task { [monitor] in
        for await _ in changes { monitor.lookAgain() }
      }
      let telling = Task {
        for await state in states { continuation.yield(state) }
        continuation.finish()
      }
      continuation.onTermination = { _ in
        looking.cancel()
        telling.cancel()
      }
    }
  }
}
