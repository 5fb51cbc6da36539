import FeedimgModel

/// One look at the whole network: both protocols, and what the data costs.
struct NetworkSurvey<Kernel: KernelAsking> {
  let kernel: Kernel
  /// Who answered last over the internet, if that is known.
  var peer: IPAddress?
  /// How the user marked a network.
  var mark: (NetworkIdentity) -> Metered? = { _ in nil }
  /// What the services that manage the network say of a path.
  var advise: (NetworkPath) -> NetworkAdvice = { _ in NetworkAdvice() }

  /// The state of the network now.
  ///
  /// The protocol that was last spoken decides where it has a way; before that IPv4, since nearly every server has
  /// it; the other one else. Where they part, some data takes the other way too, so that the dearer one tells the
  /// cost.
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

  /// The way of one protocol, if the internet can answer to it.
  ///
  /// - Parameters:
  ///   - family: The protocol.
  ///   - resolver: Who finds it.
  ///   - reason: Becomes why there is none, where that says more than what it says already.
  /// - Returns: The way, or why there is none.
  /// - Throws: What asking the kernel throws.
  private func find(
    _ family: AddressFamily,
    _ resolver: PathResolver<Kernel>,
    _ reason: inout String?
  ) throws(NetlinkError) -> PathFinding {
    let finding = try resolver.find(family)
    switch finding {
    case .none(let obstacle):
      // IPv4 tells best why there is nothing.
      if family == .v4 || reason == nil { reason = obstacle }
    case .path(let path):
      guard try resolver.hasInternetSource(path) else {
        let obstacle = "this host has no IPv6 address that the internet can answer to"
        reason = obstacle
        return .none(obstacle)
      }
    }
    return finding
  }

  /// The state with the cost of all ways that a route with several legs takes.
  private func describeAll(
    _ path: NetworkPath,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> NetworkState {
    var state = describe(path)
    for way in try resolver.waysBeside(path) { state.join(describe(way)) }
    return state
  }

  private func otherPath(
    _ family: AddressFamily,
    than path: NetworkPath,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> NetworkPath? {
    guard let probe = family.probes.first,
      case .route(let route) = try kernel.route(RouteQuestion(destination: probe)),
      route.leg.index != path.leg.index,
      case .path(let other) = try resolver.find(family),
      try resolver.hasInternetSource(other)
    else { return nil }
    return other
  }

  /// What tells the network of a path from others.
  func identity(_ path: NetworkPath) -> NetworkIdentity? {
    path.links.last.map { NetworkIdentity(device: $0.name, wirelessName: wirelessNetwork(path)?.name) }
  }

  private func wirelessNetwork(_ path: NetworkPath) -> WirelessNetwork? {
    guard path.end.medium == .wifi, let link = path.links.last else { return nil }
    return kernel.wirelessNetwork(of: link)
  }

  private func describe(_ path: NetworkPath) -> NetworkState {
    var metering = Metering(end: path.end, wireless: wirelessNetwork(path), gateway: path.leg.gateway)
    guard let link = path.links.last else { return NetworkState(path, metering) }
    if path.end.mayBePhone { metering.isLeasedByPhone = kernel.isLeasedByPhone(link) }
    let identity = NetworkIdentity(device: link.name, wirelessName: metering.wireless?.name)
    if let word = mark(identity) { metering.words.append(.user(word)) }
    let advice = advise(path)
    if advice.isSuspended { return .offline("the modem of `\(link.name)` is suspended, as during a call") }
    if let word = advice.word { metering.words.append(word) }
    metering.isRoaming = advice.isRoaming
    var state = NetworkState(path, metering)
    state.isCaptive = advice.isCaptive
    return state
  }
}
