import FeedimgModel

/// One look at the whole network: both protocols, and what the data costs.
struct NetworkSurvey<Kernel: KernelAsking> {
  let kernel: Kernel
  /// How the user marked a network.
  var mark: (NetworkIdentity) -> Metered? = { _ in nil }
  /// What the services that manage the network say of a path.
  var advise: (NetworkPath) -> NetworkAdvice = { _ in NetworkAdvice() }

  /// The state of the network now.
  ///
  /// IPv4 decides where it has a way, since nearly every server has it; IPv6 else. Where they part, some
  /// data takes the other way too, so that the dearer one tells the cost.
  func state() throws(NetlinkError) -> NetworkState {
    let resolver = PathResolver(kernel: kernel)
    switch try resolver.find(.v4) {
    case .path(let path):
      var state = try describeAll(path, resolver)
      if let other = try otherPath(than: path, resolver) { state.join(describe(other)) }
      return state
    case .none(let reason):
      guard case .path(let path) = try resolver.find(.v6) else { return .offline(reason) }
      guard try resolver.hasInternetSource(path) else {
        return .offline("this host has no IPv6 address that the internet can answer to")
      }
      return try describeAll(path, resolver)
    }
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
    than path: NetworkPath,
    _ resolver: PathResolver<Kernel>
  ) throws(NetlinkError) -> NetworkPath? {
    guard let probe = AddressFamily.v6.probes.first,
      case .route(let route) = try kernel.route(RouteQuestion(destination: probe)),
      route.leg.index != path.leg.index,
      case .path(let other) = try resolver.find(.v6),
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
