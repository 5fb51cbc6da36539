import FeedimgModel

/// One reading of the whole network: both protocols, and their metering.
struct NetworkSurvey<Kernel: KernelQuerying> {
  let kernel: Kernel
  /// The last server on the internet that responded, if known.
  var peer: IPAddress?
  /// The user's mark of a network.
  var mark: (NetworkIdentity) -> Metered? = { _ in nil }
  /// The advice of the network services on a path.
  var advise: (NetworkPath) -> NetworkAdvice = { _ in NetworkAdvice() }

  /// The current state of the network.
  ///
  /// The protocol of the last server that responded decides, if it has a path. Otherwise IPv4 decides,
  /// because nearly every server has it, and then IPv6. If the two paths differ, some data takes the other
  /// one too, so that the dearer path decides the cost.
  func state() throws(NetlinkError) -> NetworkState {
    let resolver = PathResolver(kernel: kernel, peer: peer)
    let first: AddressFamily = peer?.isGlobal == true ? peer?.family ?? .v4 : .v4
    let second: AddressFamily = first == .v4 ? .v6 : .v4
    var reason: String?
    if case .path(let path) = try find(first, resolver, &reason) {
      var state = try describeAll(path, resolver)
      if let other = try otherPath(second, than: path, resolver) { state.join(describe(other)) }
      return state
    }
    if case .path(let path) = try find(second, resolver, &reason) { return try describeAll(path, resolver) }
    return .offline(reason ?? NoRoute.missing.reason)
  }

  /// The path of one protocol, if servers on the internet can reply to its source address.
  ///
  /// Otherwise, sets the reason why there is no path, unless it already has a better one.
  private func find(
    _ family: AddressFamily,
    _ resolver: PathResolver<Kernel>,
    _ reason: inout String?
  ) throws(NetlinkError) -> PathFinding {
    let finding = try resolver.find(family)
    switch finding {
    case .none(let obstacle):
      // The reason of IPv4 is the most helpful one.
      if family == .v4 || reason == nil { reason = obstacle }
    case .path(let path):
      guard try resolver.hasInternetSource(path) else {
        let obstacle = "this host has no global IPv6 address"
        reason = obstacle
        return .none(obstacle)
      }
    }
    return finding
  }

  /// The state with the cost of all nextHops of a route.
  private func describeAll(
    _ path: NetworkPath,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> NetworkState {
    var state = describe(path)
    for way in try resolver.pathsOfOtherNextHops(path) { state.join(describe(way)) }
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
      case .path(let other) = try resolver.find(family),
      try resolver.hasInternetSource(other)
    else { return nil }
    return other
  }

  /// The properties that distinguish the network of a path.
  func identity(_ path: NetworkPath) -> NetworkIdentity? {
    path.links.last.map { NetworkIdentity(device: $0.name, wirelessName: wirelessNetwork(path)?.name) }
  }

  private func wirelessNetwork(_ path: NetworkPath) -> WirelessNetwork? {
    guard path.end.medium == .wifi, let link = path.links.last else { return nil }
    return kernel.wirelessNetwork(of: link)
  }

  private func describe(_ path: NetworkPath) -> NetworkState {
    var metering = Metering(end: path.end, wireless: wirelessNetwork(path), gateway: path.nextHop.gateway)
    guard let link = path.links.last else { return NetworkState(path, metering) }
    if path.end.mayBePhone { metering.isLeasedByPhone = kernel.isLeasedByPhone(link) }
    let identity = NetworkIdentity(device: link.name, wirelessName: metering.wireless?.name)
    if let statement = mark(identity) { metering.statements.append(.user(statement)) }
    let advice = advise(path)
    if advice.isSuspended { return .offline("the modem of `\(link.name)` is suspended, as during a call") }
    if let statement = advice.statement { metering.statements.append(statement) }
    metering.isRoaming = advice.isRoaming
    var state = NetworkState(path, metering)
    state.isCaptive = advice.isCaptive
    return state
  }
}
