/// The kind of network that packets to the internet take first.
public enum NetworkKind: String, Sendable, Hashable, CaseIterable {
  case wifi
  case ethernet
  case cellular
  /// Connected, but the kind is unknown.
  case other
  case offline
}

/// Whether the user pays for data on the network.
public enum Metered: String, Sendable, Hashable, CaseIterable {
  case no
  case yes
  case unknown

  /// The word in settings, ledgers and commands: `unmetered`, `metered` or `unknown`.
  package var word: String {
    switch self {
    case .no: "unmetered"
    case .yes: "metered"
    case .unknown: "unknown"
    }
  }

  /// Reads ``word``; nil for any other word.
  package init?(word: String) {
    guard let metered = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = metered
  }
}

/// The state of the active network path at one moment.
public struct NetworkState: Sendable, Hashable {
  /// The network that carries the data, below any tunnel.
  public var kind: NetworkKind
  /// Whether the user pays for the data.
  public var metered: Metered
  /// The interface of the route, such as `wg0`; nil without a route.
  public var device: String?
  /// The interfaces from ``device`` down to the hardware, ``device`` first; empty without a route.
  public var via: [String]
  /// The route in the notation of `ip route`, such as `default via 192.0.2.1 dev wlan0`.
  public var route: String?
  /// Whether a phone provides the connection over a cable or Bluetooth.
  public var isTethered: Bool
  /// Whether a tunnel carries the data.
  public var isTunnelled: Bool
  /// Whether the path ends at a device without hardware, as in a container.
  public var isVirtual: Bool
  /// Whether the modem is roaming, if that is known.
  public var isRoaming: Bool
  /// Whether a service reports a captive portal, as in hotels.
  public var isCaptive: Bool
  /// Whether packets have a route out, as far as this host knows.
  public var isReachable: Bool
  /// The reason for ``kind``, in words.
  public var reason: String
  /// The reason for ``metered``, in words.
  public var meteredReason: String

  /// Creates a state.
  ///
  /// By default it is reachable unless it is offline.
  public init(
    kind: NetworkKind,
    metered: Metered,
    device: String? = nil,
    via: [String] = [],
    route: String? = nil,
    isTethered: Bool = false,
    isTunnelled: Bool = false,
    isVirtual: Bool = false,
    isRoaming: Bool = false,
    isCaptive: Bool = false,
    isReachable: Bool? = nil,
    reason: String,
    meteredReason: String
  ) {
    self.kind = kind
    self.metered = metered
    self.device = device
    self.via = via
    self.route = route
    self.isTethered = isTethered
    self.isTunnelled = isTunnelled
    self.isVirtual = isVirtual
    self.isRoaming = isRoaming
    self.isCaptive = isCaptive
    self.isReachable = isReachable ?? (kind != .offline)
    self.reason = reason
    self.meteredReason = meteredReason
  }
}

/// Reads the state of the network, and reports its changes (a port).
package protocol NetworkMonitoring: Sendable {
  /// Reads the state now; never fails, because an unknown network is `other`.
  ///
  /// Blocks for some microseconds. If it asks network services over D-Bus, it blocks for up to 200 ms for each reply.
  func currentState() -> NetworkState

  /// The current state, then each change; never the same state twice in a row. Ends when the consumer stops.
  func states() -> AsyncStream<NetworkState>

  /// Makes a running monitor read the state again, for example after more services became available.
  func refresh()
}

extension NetworkMonitoring {
  package func refresh() {}
}

/// The identity of a network between connections: its Wi-Fi name, or otherwise its device.
public enum NetworkName: Sendable, Hashable {
  /// The name of a Wi-Fi network.
  case ssid(String)
  /// An interface, such as `usb0`.
  case device(String)

  /// Parses the form of ``text``.
  ///
  /// - Parameter text: Such as `ssid:Home`.
  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let name = String(text[text.index(after: colon)...])
    guard !name.isEmpty else { return nil }
    switch text[..<colon] {
    case "ssid": self = .ssid(name)
    case "device": self = .device(name)
    default: return nil
    }
  }

  /// The name with its kind as a prefix, such as `ssid:Home` or `device:usb0`.
  public var text: String {
    switch self {
    case .ssid(let name): "ssid:\(name)"
    case .device(let name): "device:\(name)"
    }
  }
}
