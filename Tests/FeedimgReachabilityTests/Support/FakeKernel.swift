@testable import FeedimgReachability

/// A kernel whose links, routes and devices are written down.
struct FakeKernel: KernelAsking {
  var links: [Link]
  /// Answers to questions for the first probe of each protocol; what is not here has no route.
  var routes: [RouteQuestion: RouteAnswer] = [:]
  var marks: [UInt32] = []
  var devices: [String: Hardware] = [:]
  var networks: [String: WirelessNetwork] = [:]
  var pppoe: [String] = []
  var leasedByPhone: Set<String> = []
  var diallers: [String: Dialler] = [:]
  /// The index of the link that sysfs shows below one.
  var lower: [String: Int32] = [:]
  var refusal: NetlinkError?

  func route(_ question: RouteQuestion) throws(NetlinkError) -> RouteAnswer {
    if let refusal { throw refusal }
    return routes[question] ?? .none(.missing)
  }

  func links(_ question: LinkQuestion) throws(NetlinkError) -> [Link] {
    if let refusal { throw refusal }
    return links.filter { link in
      switch question {
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
  func dialler(of link: Link) -> Dialler { diallers[link.name] ?? .untold }
  func lowerLinks(of link: Link) throws(NetlinkError) -> [Link] {
    links.filter { $0.index == lower[link.name] }
  }
  func carriersOfPPPoE() -> [String] { pppoe }
}

extension FakeKernel {
  /// Adds a default route over a link.
  func routed(
    _ index: Int32,
    mark: UInt32? = nil,
    device: Int32? = nil,
    metric: UInt32 = 0,
    family: AddressFamily = .v4
  ) -> FakeKernel {
    var kernel = self
    let question = RouteQuestion(destination: family.probes[0], mark: mark, device: device)
    kernel.routes[question] = .route(Route(family: family, legs: [.init(index: index)], metric: metric))
    return kernel
  }
}
