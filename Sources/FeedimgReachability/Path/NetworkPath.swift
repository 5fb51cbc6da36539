import FeedimgModel

/// The way of packets to the internet: the route, and the links from there down to the hardware.
struct NetworkPath: Hashable, Sendable {
  var route: Route
  /// The one of the route's legs that this path takes.
  var leg: Route.Leg
  /// From the interface of the route down to the last one known; at least one.
  var links: [Link]
  /// What the last link is.
  var end: LinkClass
  /// Whether a tunnel is among the links.
  var isTunnelled = false
}

/// What was found for one protocol.
enum PathFinding: Hashable, Sendable {
  case path(NetworkPath)
  /// There is none, for the reason given in words.
  case none(String)
}

/// What tells one network from another for the one who uses it.
package struct NetworkIdentity: Hashable, Sendable {
  /// The interface that carries the data, at the end of the path.
  package var device: String
  /// The name of the Wi-Fi network; nil for others, and where it is no text.
  package var wirelessName: String?

  package init(device: String, wirelessName: String? = nil) {
    self.device = device
    self.wirelessName = wirelessName
  }
}

extension NetworkState {
  /// Nothing leads out.
  static func offline(_ reason: String) -> NetworkState {
    NetworkState(
      kind: .offline,
      metered: .no,
      reason: reason,
      meteredReason: "nothing is sent"
    )
  }

  /// The system does not say, whether or not a trial found a way.
  static func untold(_ reason: String, isReachable: Bool) -> NetworkState {
    NetworkState(
      kind: .other,
      metered: .unknown,
      isReachable: isReachable,
      reason: reason,
      meteredReason: "what carries the data is not known"
    )
  }

  /// The state that a path amounts to.
  init(_ path: NetworkPath, _ metering: Metering) {
    let verdict = metering.verdict
    let device = path.links.first?.name
    self.init(
      kind: path.end.kind,
      metered: verdict.metered,
      device: device,
      via: path.links.map(\.name),
      route: device.map { path.route.text(path.leg, device: $0) },
      isTethered: path.end.isTether,
      isTunnelled: path.isTunnelled,
      isVirtual: path.end.isVirtual,
      isRoaming: metering.isRoaming,
      reason: path.end.reason,
      meteredReason: verdict.reason
    )
  }

  /// Takes the cost of a second way into account, which some of the data takes.
  mutating func join(_ other: NetworkState) {
    guard other.metered.rank > metered.rank else { return }
    metered = other.metered
    meteredReason = "\(other.meteredReason), over `\(other.device ?? "")`"
    isRoaming = isRoaming || other.isRoaming
  }
}

extension LinkClass {
  fileprivate var kind: NetworkKind {
    switch medium {
    case .wifi: .wifi
    case .ethernet: .ethernet
    case .cellular: .cellular
    case .unknown: .other
    case .noConnection: .offline
    }
  }
}

extension Metered {
  /// Its place among the three, from the cheapest to the dearest.
  var rank: Int {
    switch self {
    case .no: 0
    case .unknown: 1
    case .yes: 2
    }
  }
}
