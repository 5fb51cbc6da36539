extension PathResolver {
  /// Finds what carries the packets of a tunnel.
  ///
  /// - Parameters:
  ///   - tunnel: The tunnel.
  ///   - remote: Its other end, if the kernel knows it.
  ///   - path: The links down to the tunnel, itself included.
  /// - Returns: The whole path, or what obstructs it.
  /// - Throws: What asking the kernel throws.
  func digTunnel(
    _ tunnel: Link,
    to remote: IPAddress?,
    _ path: NetworkPath
  ) throws(NetlinkError)
    -> PathFinding
  {
    if let remote { return try followOuterRoute(of: tunnel, to: remote, path) }
    if let carrier = try markedCarrier(path) { return try descend(to: carrier, path) }
    let candidates = try kernel.links(.all).filter { $0.mayCarry(path) }
    let usable = candidates.filter { $0.obstacle == nil }
    if let carrier = try bestRouted(usable) { return try descend(to: carrier, path) }
    // No route tells, but where all that could carry it is of one kind, that is the answer.
    let independent = usable.filter { $0.master == nil }
    if independent.count > Self.mostCandidates { return finish(path, with: .untold(tunnel)) }
    if !usable.isEmpty { return try gather(independent, below: path) }
    guard let obstacle = candidates.lazy.compactMap(\.obstacle).first else {
      return finish(path, with: .untold(tunnel))
    }
    return .none("nothing carries the tunnel `\(tunnel.name)`: \(obstacle)")
  }

  private func followOuterRoute(
    of tunnel: Link,
    to remote: IPAddress,
    _ path: NetworkPath
  ) throws(NetlinkError) -> PathFinding {
    let question = RouteQuestion(destination: remote, device: tunnel.lower)
    guard case .route(let outer) = try kernel.route(question),
      let carrier = try kernel.links(.link(outer.leg.index)).first
    else { return .none("there is no route to the other end of the tunnel `\(tunnel.name)`") }
    return try descend(to: carrier, path)
  }

  /// The link that packets with a mark take.
  ///
  /// WireGuard's tools, NetworkManager and Tailscale mark the packets of the tunnel and have rules that
  /// keep these out of it.
  private func markedCarrier(_ path: NetworkPath) throws(NetlinkError) -> Link? {
    for family in AddressFamily.allCases {
      for mark in try kernel.marks(family) {
        guard let probe = family.probes.first,
          case .route(let route) = try kernel.route(RouteQuestion(destination: probe, mark: mark)),
          !path.links.contains(where: { $0.index == route.leg.index }),
          let link = try kernel.links(.link(route.leg.index)).first,
          !link.isTunnel, link.obstacle == nil
        else { continue }
        return link
      }
    }
    return nil
  }

  /// The link with the best route of its own to the internet.
  ///
  /// OpenVPN and NetworkManager leave the former default route in place and add a better one.
  private func bestRouted(_ links: [Link]) throws(NetlinkError) -> Link? {
    for family in AddressFamily.allCases {
      var best: (link: Link, metric: UInt32)?
      for link in links {
        guard let probe = family.probes.first,
          case .route(let route) = try kernel.route(RouteQuestion(destination: probe, device: link.index)),
          route.metric < best?.metric ?? .max
        else { continue }
        best = (link, route.metric)
      }
      if let best { return best.link }
    }
    return nil
  }
}

extension Link {
  /// Whether the link may be what carries a tunnel: neither one itself nor this host, nor above it.
  fileprivate func mayCarry(_ path: NetworkPath) -> Bool {
    !isTunnel && flags & LinkFlags.loopback == 0 && !path.links.contains { $0.index == index }
  }
}
