/// The kind of network that packets to the internet take first.
public enum NetworkKind: String, Sendable, Hashable, CaseIterable {
  case wifi
  case ethernet
  case cellular
  /// Connected, by something whose kind cannot be told.
  case other
  case offline
}

/// Whether the data that passes costs its user something.
public enum Metered: String, Sendable, Hashable, CaseIterable {
  case no
  case yes
  case unknown
}

/// What is known of the active network path at one moment.
public struct NetworkState: Sendable, Hashable {
  /// What carries the data in the end.
  public var kind: NetworkKind
  /// Whether the data costs.
  public var metered: Metered
  /// The interface that the route uses, such as `wg0`; nil where there is no route.
  public var device: String?
  /// The interfaces from ``device`` down to the hardware, ``device`` first; empty where there is no route.
  public var via: [String]
  /// The route as a person would write it, such as `default via 192.0.2.1 dev wlan0`.
  public var route: String?
  /// Whether the data is a phone's, reached by cable or Bluetooth.
  public var isTethered: Bool
  /// Whether a tunnel carries the data.
  public var isTunnelled: Bool
  /// Whether the path ends at a device without hardware, as in a container.
  public var isVirtual: Bool
  /// Whether the modem is in a foreign network, where that can be told.
  public var isRoaming: Bool
  /// Whether a page to sign in at stands before the internet, as in hotels, where a service tells.
  public var isCaptive: Bool
  /// Whether packets have a way out, as far as this host can see.
  public var isReachable: Bool
  /// Why ``kind`` is what it is, in words.
  public var reason: String
  /// Why ``metered`` is what it is, in words.
  public var meteredReason: String

  /// Makes a state; it is reachable unless offline, if nothing else is said.
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
