import FeedimgJSON
public import FeedimgModel
import FeedimgPipeline
package import FeedimgReachability
import FeedimgSettings
import Glibc

/// The active network of this machine, read from netlink; needs no daemon and no privilege.
///
/// If they run, NetworkManager, ModemManager and, in a sandbox, the desktop portal add what they know. The
/// user's marks take precedence.
public struct NetworkStatus: Sendable {
  private let monitor: NetlinkMonitor
  /// Nil if the folder of the settings is unknown; then no network is marked.
  private let settings: SettingsStore?

  /// Makes a status, which opens nothing until it is asked.
  ///
  /// - Parameter configuration: Only the folder of the settings and the environment are used.
  public init(_ configuration: ImageLoader.Configuration = ImageLoader.Configuration()) {
    let settings = (try? Folders(configuration).configuration).map { SettingsStore(folder: $0) }
    self.settings = settings
    let services = NetworkServices(of: configuration)
    let reader = NetlinkReader(
      services: services,
      mark: { names in settings?.currentSettings().mark(of: names) }
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

  /// Warnings about the settings that hold the marks, one line each; each is reported once.
  public var warnings: [String] { settings?.takeWarnings() ?? [] }

  /// The current state of the network.
  ///
  /// Reading it takes microseconds, or a millisecond with services on the bus. It sends no packet.
  public var state: NetworkState { monitor.currentState() }

  /// Calls back with the current state at once, then after each change.
  ///
  /// The same state is never reported twice in a row. A new mark is a change too.
  ///
  /// This method wakes the processor least. One thread sleeps until the network or a mark changes, and checks
  /// once a minute. Swift tasks, which ``states()`` needs, wake every second on their own.
  ///
  /// - Parameter report: Called on that thread, one call at a time.
  /// - Returns: The observation, which ends when it is cancelled or released; nil if the system grants no
  ///   thread.
  public func watch(_ report: @escaping @Sendable (NetworkState) -> Void) -> NetworkSubscription? {
    monitor.observe(report).map { NetworkSubscription(end: $0) }
  }

  /// Returns the current state, then each change, as ``watch(_:)`` reports them.
  ///
  /// - Returns: A stream that ends when its consumer stops reading.
  public func states() -> AsyncStream<NetworkState> { monitor.states() }
}

/// An observation of the network, which ends when it is cancelled or released.
public final class NetworkSubscription: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends the observation.
  ///
  /// A call that is already running completes; no other call follows.
  public func cancel() { end() }
}

/// A change of the network, or its initial state.
public struct NetworkChange: Sendable, Hashable {
  /// The state before the change; nil for the initial state.
  public var previous: NetworkState?
  /// The state after the change.
  public var state: NetworkState

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - previous: The state before the change; nil for the initial state.
  ///   - state: The state after the change.
  public init(from previous: NetworkState?, to state: NetworkState) {
    self.previous = previous
    self.state = state
  }

  /// The reasons for the parts of the state that changed, in words.
  public var why: String {
    guard let previous else {
      return state.kind == .offline ? state.reason : "\(state.reason); \(state.meteredReason)"
    }
    var reasons: [String] = []
    if (state.kind, state.via, state.reason) != (previous.kind, previous.via, previous.reason) {
      reasons.append(state.reason)
    }
    let isCostNew = (state.metered, state.meteredReason) != (previous.metered, previous.meteredReason)
    if isCostNew, state.kind != .offline { reasons.append(state.meteredReason) }
    if reasons.isEmpty { reasons.append(state.route.map { "the route is `\($0)`" } ?? state.reason) }
    return reasons.joined(separator: "; ")
  }

  /// Returns the state as one line of JSON, with the time, the previous kind (`null` at first) and the
  /// reason.
  ///
  /// - Parameter time: When the change was reported, in the format of RFC 3339.
  /// - Returns: One JSON object.
  public func json(at time: String) -> String {
    var object = JSONObject([("time", .string(time)), ("from", .optional(previous?.kind.rawValue))])
    if case .object(let members) = state.jsonValue {
      for member in members.members { object[member.name] = member.value }
    }
    object["why"] = .string(why)
    return JSONValue.object(object).text(.compact)
  }
}

extension NetworkServices {
  /// Chooses the D-Bus services that a configuration leads to.
  ///
  /// The addresses of the buses come from D-Bus's own variables, or are the usual ones. The portal is used
  /// only inside a sandbox, because netlink tells more outside of one.
  package init(of configuration: ImageLoader.Configuration) {
    let environment = configuration.environment
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    self.init(system: variable("DBUS_SYSTEM_BUS_ADDRESS").map { .at($0) } ?? .system)
    // Snap sets this variable; Flatpak creates this file.
    guard variable("SNAP") != nil || access("/.flatpak-info", F_OK) == 0 else { return }
    let usual = variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
    portal = (variable("DBUS_SESSION_BUS_ADDRESS") ?? usual).map { .at($0) } ?? .none
  }
}
