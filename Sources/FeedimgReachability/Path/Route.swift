/// The way that packets take to a destination, up to the first interface.
struct Route: Hashable, Sendable {
  /// One of several ways that share the load, or the only one.
  struct Leg: Hashable, Sendable {
    var index: Int32
    var gateway: IPAddress?
    var isDead = false
  }

  var family: AddressFamily
  /// The first address of the network that the route leads to; nil where it is all zeros.
  var destination: IPAddress?
  var prefixLength: UInt8 = 0
  /// At least one.
  var legs: [Leg]
  var metric: UInt32 = 0
  /// The address that packets have as their source; nil where that was not asked.
  var source: IPAddress?

  /// The first leg that is alive, or else the first.
  var leg: Leg { legs.first { !$0.isDead } ?? legs[0] }

  /// The legs, those that are alive first: the kernel may take a second to notice that one has died.
  var legsInOrder: [Leg] {
    legs.count == 1 ? legs : legs.filter { !$0.isDead } + legs.filter(\.isDead)
  }

  /// The route as a person would write it, such as `default via 192.0.2.1 dev wlan0`.
  ///
  /// - Parameters:
  ///   - leg: The leg that is taken.
  ///   - device: The name of its interface.
  /// - Returns: Text in the manner of `ip route`.
  func text(_ leg: Leg, device: String) -> String {
    let network = prefixLength == 0 ? "default" : "\(destination ?? family.unspecified)/\(prefixLength)"
    guard let gateway = leg.gateway else { return "\(network) dev \(device)" }
    return "\(network) via \(gateway) dev \(device)"
  }
}

/// What the kernel says to the question for a route.
enum RouteAnswer: Hashable, Sendable {
  case route(Route)
  case none(NoRoute)
}

/// Why there is no way.
enum NoRoute: Hashable, Sendable {
  /// No route covers the destination.
  case missing
  case blackhole
  case prohibit
  case unreachable
  /// The route leads to this host itself.
  case local

  /// The answer in words.
  var reason: String {
    switch self {
    case .missing: "there is no route to the internet"
    case .blackhole: "the route to the internet is a blackhole"
    case .prohibit: "the route to the internet is prohibited"
    case .unreachable: "the route to the internet is marked unreachable"
    case .local: "the route to the internet leads back to this host"
    }
  }
}
