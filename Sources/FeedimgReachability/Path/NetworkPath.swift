import FeedimgModel

/// The path of packets to the internet: the route, and the links down to the hardware.
struct NetworkPath: Hashable, Sendable {
  var route: Route
  /// The next hop of the route that this path takes.
  var nextHop: Route.NextHop
  /// From the interface of the route down to the last known link; at least one.
  var links: [Link]
  /// The class of the last link.
  var end: LinkClass
  /// Whether a tunnel is among the links.
  var isTunnelled = false
}

/// The path of one protocol.
enum PathFinding: Hashable, Sendable {
  case path(NetworkPath)
  /// No path, with the reason in words.
  case none(String)
}

extension NetworkState {
  /// No path leads to the internet.
  static func offline(_ reason: String) -> NetworkState {
    NetworkState(
      kind: .offline,
      metered: .no,
      reason: reason,
      meteredReason: "the network is offline"
    )
  }

  /// The kernel did not report the path.
  ///
  /// A route probe may have found a route.
  static func unknown(_ reason: String, isReachable: Bool) -> NetworkState {
    NetworkState(
      kind: .other,
      metered: .unknown,
      isReachable: isReachable,
      reason: reason,
      meteredReason: "the hardware that carries the data is unknown"
    )
  }

  /// The state of a path.
  init(_ path: NetworkPath, _ metering: Metering) {
    let verdict = metering.verdict
    let device = path.links.first?.name
    self.init(
      kind: path.end.medium,
      metered: verdict.metered,
      device: device,
      via: path.links.map(\.name),
      route: device.map { path.route.text(path.nextHop, device: $0) },
      isTethered: path.end.isTether,
      isTunnelled: path.isTunnelled,
      isVirtual: path.end.isVirtual,
      isRoaming: metering.isRoaming,
      reason: path.end.reason,
      meteredReason: verdict.reason
    )
  }

  /// Adds the cost of a second path, which some of the data takes.
  mutating func join(_ other: NetworkState) {
    isRoaming = isRoaming || other.isRoaming
    guard other.metered.rank > metered.rank else { return }
    metered = other.metered
    meteredReason = "\(other.meteredReason), over `\(other.device ?? "")`"
  }
}

extension Metered {
  /// The order from the cheapest to the dearest.
  var rank: Int { self == .no ? 0 : self == .unknown ? 1 : 2 }
}
