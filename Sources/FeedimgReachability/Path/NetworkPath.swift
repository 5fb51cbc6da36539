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
