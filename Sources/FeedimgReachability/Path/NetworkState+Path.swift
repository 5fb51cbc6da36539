import FeedimgModel

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
