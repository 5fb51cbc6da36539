import FeedimgSystem

@testable import FeedimgReachability

/// A kernel with fixed links, routes and devices.
struct FakeKernel: KernelQuerying {
  var links: [Link]
  /// Replies to requests for the first probe of each protocol.
  ///
  /// Others have no route.
  var routes: [RouteRequest: RouteReply] = [:]
  var marks: [UInt32] = []
  var hostRoutes: [Route] = []
  var devices: [String: Hardware] = [:]
  var networks: [String: WirelessNetwork] = [:]
  var pppoe: [String] = []
  var leasedByPhone: Set<String> = []
  var tunnelsOfPPP: Set<String> = []
  /// The index of the link that sysfs shows below one.
  var lower: [String: Int32] = [:]
  var refusal: NetlinkError?
  /// Why the routes to single hosts cannot be listed.
  var hostRouteRefusal: NetlinkError?

  func route(_ request: RouteRequest) throws(NetlinkError) -> RouteReply {
    if let refusal { throw refusal }
    return routes[request] ?? .none(.missing)
  }

  func hostRoutes(_ family: AddressFamily) throws(NetlinkError) -> [Route] {
    if let error = refusal ?? hostRouteRefusal { throw error }
    return hostRoutes.filter { $0.family == family }
  }

  func links(_ request: LinkRequest) throws(NetlinkError) -> [Link] {
    if let refusal { throw refusal }
    return links.filter { link in
      switch request {
      case .all: true
      case .link(let index): link.index == index
      case .ports(let master): link.master == master
      }
    }
  }

  func marks(_ family: AddressFamily) throws(NetlinkError) -> [UInt32] {
    family == .v4 ? marks : []
  }

  func hardware(of link: Link) -> Hardware { devices[link.name] ?? Hardware() }
  func hasDevice(_ link: Link) -> Bool { devices[link.name] != nil }
  func wirelessNetwork(of link: Link) -> WirelessNetwork? { networks[link.name] }
  func isLeasedByPhone(_ link: Link) -> Bool { leasedByPhone.contains(link.name) }
  func isPPPOverTunnel(_ link: Link) -> Bool { tunnelsOfPPP.contains(link.name) }
  func lowerLinks(of link: Link) throws(NetlinkError) -> [Link] {
    links.filter { $0.index == lower[link.name] }
  }
  func carriersOfPPPoE() -> [String] { pppoe }
}

extension FakeKernel {
  /// Refuses to list the routes to single hosts, as a sandbox may.
  func refusingHostRoutes() -> FakeKernel {
    var kernel = self
    kernel.hostRouteRefusal = NetlinkError(code: .refused, number: 1)
    return kernel
  }

  /// Adds routes over a link to single hosts.
  func withHostRoutes(_ index: Int32, to hosts: IPAddress...) -> FakeKernel {
    var kernel = self
    kernel.hostRoutes += hosts.map { host in
      let length = host.family.addressLength
      return Route(
        family: host.family,
        destination: host,
        prefixLength: length,
        nextHops: [.init(index: index)]
      )
    }
    return kernel
  }

  /// Adds a default route over a link.
  func routed(
    _ index: Int32,
    mark: UInt32? = nil,
    device: Int32? = nil,
    metric: UInt32 = 0,
    family: AddressFamily = .v4
  ) -> FakeKernel {
    var kernel = self
    let request = RouteRequest(destination: family.probes[0], mark: mark, device: device)
    kernel.routes[request] = .route(Route(family: family, nextHops: [.init(index: index)], metric: metric))
    return kernel
  }
}
