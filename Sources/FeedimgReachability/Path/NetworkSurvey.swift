import FeedimgModel
import FeedimgSystem

/// One reading of the whole network: both protocols, and their metering.
struct NetworkSurvey<Kernel: KernelQuerying> {
  let kernel: Kernel
  /// The last server on the internet that responded, if known.
  var peer: IPAddress?
  /// The user's mark of a network with these names, the most specific one first.
  var mark: ([NetworkName]) -> Metered? = { _ in nil }
  /// The advice of the network services on a path.
  var advise: (NetworkPath) -> NetworkAdvice = { _ in NetworkAdvice() }

  /// The current state of the network.
  ///
  /// The protocol of the last server that responded decides, if it has a path. Otherwise IPv4 decides,
  /// because nearly every server has it, and then IPv6. A path over a suspended modem does not count. If the
  /// two paths differ, some data takes the other one too, so that the dearer path decides the cost.
  func state() throws(NetlinkError) -> NetworkState {
    let resolver = PathResolver(kernel: kernel, peer: peer)
    let families: [AddressFamily] = peer?.isPublic == true && peer?.family == .v6 ? [.v6, .v4] : [.v4, .v6]
    var obstacles: [AddressFamily: String] = [:]
    var suspension: String?
    for family in families {
      switch try find(family, resolver) {
      case .none(let obstacle): obstacles[family] = obstacle
      case .path(let path):
        var state = try describeAll(path, resolver)
        if state.kind == .offline {
          suspension = suspension ?? state.reason
          continue
        }
        if family == families[0], let other = try otherPath(families[1], than: path, resolver) {
          state.join(describe(other))
        }
        return state
      }
    }
    // The reason of IPv4 is the most helpful one, unless IPv6 lacks only an address.
    let obstacle = obstacles[.v6] == Self.noGlobalAddress ? Self.noGlobalAddress : obstacles[.v4]
    return .offline(suspension ?? obstacle ?? NoRoute.missing.rawValue)
  }

  private static var noGlobalAddress: String { "this host has no global IPv6 address" }

  /// The path of one protocol, if servers on the internet can reply to its source address.
  private func find(
    _ family: AddressFamily,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> PathFinding {
    let finding = try resolver.find(family)
    guard case .path(let path) = finding, try !resolver.hasInternetSource(path) else { return finding }
    return .none(Self.noGlobalAddress)
  }

  /// The state of the first next hop whose modem is not suspended, with the cost of all next hops of the route.
  private func describeAll(
    _ path: NetworkPath,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> NetworkState {
    let states = try ([path] + resolver.pathsOfOtherNextHops(path)).map { describe($0) }
    var state = states.first { $0.kind != .offline } ?? states[0]
    for other in states { state.join(other) }
    return state
  }

  private func otherPath(
    _ family: AddressFamily,
    than path: NetworkPath,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> NetworkPath? {
    guard let probe = family.probes.first,
      case .route(let route) = try kernel.route(RouteRequest(destination: probe)),
      route.nextHop.index != path.nextHop.index,
      case .path(let other) = try find(family, resolver)
    else { return nil }
    return other
  }

  private func wirelessNetwork(_ path: NetworkPath) -> WirelessNetwork? {
    guard path.end.medium == .wifi, let link = path.links.last else { return nil }
    return kernel.wirelessNetwork(of: link)
  }

  /// The names of a network: its Wi-Fi name, if any, and the interface that carries the data.
  ///
  /// An empty Wi-Fi name does not count.
  private static func names(of wireless: WirelessNetwork?, over link: Link) -> [NetworkName] {
    let device = NetworkName.device(link.name)
    guard let ssid = wireless?.name, !ssid.isEmpty else { return [device] }
    return [.ssid(ssid), device]
  }

  /// The state of a path; offline if its modem is suspended.
  private func describe(_ path: NetworkPath) -> NetworkState {
    var metering = Metering(end: path.end, wireless: wirelessNetwork(path), gateway: path.nextHop.gateway)
    guard let link = path.links.last else { return NetworkState(path, metering) }
    if path.end.mayBePhone { metering.isLeasedByPhone = kernel.isLeasedByPhone(link) }
    let names = Self.names(of: metering.wireless, over: link)
    if let statement = mark(names) { metering.statements.append(.user(statement)) }
    let advice = advise(path)
    if advice.isSuspended { return .offline("the modem of `\(link.name)` is suspended, as during a call") }
    if let statement = advice.statement { metering.statements.append(statement) }
    metering.isRoaming = advice.isRoaming
    var state = NetworkState(path, metering)
    state.isCaptive = advice.isCaptive
    return state
  }
}
