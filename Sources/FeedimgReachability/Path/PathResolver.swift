import FeedimgModel
import FeedimgSystem

/// Finds the path of packets to the internet, from the route down to the hardware.
///
/// The kernel looks up one route as it would for a packet. Then the resolver reads only the links on that
/// path. Only bridges, tunnels and PPP connections need a list of links.
struct PathResolver<Kernel: KernelQuerying> {
  /// The longest path.
  ///
  /// A longer one is a loop that changes while it is followed.
  static var longestPath: Int { 8 }

  /// The most candidates for the link below a tunnel.
  ///
  /// With more, a guess would be wrong too often.
  static var mostCandidates: Int { 16 }

  let kernel: Kernel
  /// The last server on the internet that responded, if known.
  var peer: IPAddress?

  /// The destinations for the route lookup, the best first; feedimg never sends anything to them.
  ///
  /// The route to the last server that responded is the path of the data, even if routes differ by
  /// destination. Only a public address counts, because the route to a local server would hide the cost of
  /// the internet.
  private func probes(_ family: AddressFamily) -> [IPAddress] {
    guard let peer, peer.family == family, peer.isPublic else { return family.probes }
    return [peer] + family.probes
  }

  /// Finds the path of one protocol.
  func find(_ family: AddressFamily) throws(NetlinkError) -> PathFinding {
    var reason: String?
    var asked: [Route.NextHop] = []
    for probe in probes(family) {
      switch try kernel.route(RouteRequest(destination: probe)) {
      case .none(let none): reason = reason ?? none.rawValue
      case .route(let route):
        guard route.nextHops != asked else { continue }
        asked = route.nextHops
        switch try follow(route) {
        case .path(let path): return .path(path)
        case .none(let obstacle): reason = reason ?? obstacle
        }
      }
    }
    return .none(reason ?? NoRoute.missing.rawValue)
  }

  /// Whether packets on this path have a source address to which servers on the internet can reply.
  ///
  /// Always true for a tunnel, because its remote end translates addresses.
  func hasInternetSource(_ path: NetworkPath) throws(NetlinkError) -> Bool {
    guard path.route.family == .v6, !path.isTunnelled else { return true }
    for probe in probes(path.route.family) {
      let request = RouteRequest(destination: probe, wantsEntry: false)
      if case .route(let route) = try kernel.route(request) {
        return route.source?.isInternetSource ?? true
      }
    }
    return true
  }

  /// The paths over the other next hops of a path's route, which some packets take.
  func pathsOfOtherNextHops(_ path: NetworkPath) throws(NetlinkError) -> [NetworkPath] {
    var paths: [NetworkPath] = []
    for nextHop in path.route.nextHops where !nextHop.isDead && nextHop.index != path.nextHop.index {
      if case .path(let found) = try follow(nextHop, of: path.route) { paths.append(found) }
    }
    return paths
  }

  private func follow(_ route: Route) throws(NetlinkError) -> PathFinding {
    var finding = PathFinding.none(Self.gone)
    for nextHop in route.nextHopsInOrder {
      finding = try follow(nextHop, of: route)
      if case .path = finding { return finding }
    }
    return finding
  }

  private func follow(_ nextHop: Route.NextHop, of route: Route) throws(NetlinkError) -> PathFinding {
    guard let link = try kernel.links(.link(nextHop.index)).first else { return .none(Self.gone) }
    return try descend(to: link, NetworkPath(route: route, nextHop: nextHop, links: [], end: .unknown(link)))
  }

  private static var gone: String { "the interface of the route to the internet has just gone" }

  /// Extends a path with a link and the links below it.
  func descend(to link: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    var path = path
    guard path.links.count < Self.longestPath, !path.links.contains(where: { $0.index == link.index }) else {
      return finish(path, with: .unclear("the links below `\(path.links[0].name)` form a loop"))
    }
    path.links.append(link)
    path.isTunnelled = path.isTunnelled || link.isTunnel
    if let obstacle = link.obstacle { return .none(obstacle) }
    switch LinkStacking(link, hasDevice: { kernel.hasDevice(link) }) {
    case .end: return finish(path, with: LinkClassifier.classify(link, kernel.hardware(of: link)))
    case .on(let index):
      guard let lower = try kernel.links(.link(index)).first else {
        return finish(path, with: .unknown(link))
      }
      return try descend(to: lower, path)
    case .elsewhere:
      let reason = "is on a link of another namespace, as in containers"
      return finish(path, with: link.classed(.ethernet, isVirtual: true, reason))
    case .ports: return try gather(try ports(of: link), below: path)
    case .ppp: return try followPPP(link, path)
    case .tunnel(nil) where link.kind == nil:
      // Several connections of one modem look like tunnels, but have the modem below.
      if let lower = try kernel.lowerLinks(of: link).first { return try descend(to: lower, path) }
      path.isTunnelled = true
      return try followTunnel(link, to: nil, path)
    case .tunnel(let remote):
      path.isTunnelled = true
      return link.isLowerElsewhere
        ? finish(path, with: .unknown(link)) : try followTunnel(link, to: remote, path)
    }
  }

  /// Ends a path with the class of its last link.
  func finish(_ path: NetworkPath, with end: LinkClass) -> PathFinding {
    if end.medium == .offline { return .none(end.reason) }
    var path = path
    path.end = end
    return .path(path)
  }

  /// Joins the paths through several parallel links into one, if they are of one class.
  ///
  /// Paths over hardware take precedence over those over software. Obstructed paths do not count.
  func gather(_ links: [Link], below path: NetworkPath) throws(NetlinkError) -> PathFinding {
    var paths: [NetworkPath] = []
    for link in links {
      if case .path(let found) = try descend(to: link, path) { paths.append(found) }
    }
    let upper = path.links.last?.name ?? ""
    if paths.contains(where: { !$0.end.isVirtual }) { paths.removeAll { $0.end.isVirtual } }
    guard let first = paths.first else {
      return finish(path, with: .unclear("no link below `\(upper)` is usable"))
    }
    guard paths.allSatisfy({ $0.end.medium == first.end.medium }) else {
      let reason = "the links below `\(upper)` are of several kinds"
      return finish(path, with: LinkClass(medium: .other, reason: reason))
    }
    // If one of them is a phone, the dearer class decides.
    return .path(paths.first { $0.end.isTether } ?? first)
  }

  private func ports(of link: Link) throws(NetlinkError) -> [Link] {
    // The port of a virtual machine or program leads to it, not to the internet.
    try kernel.links(.ports(of: link.index)).filter { $0.master == link.index && $0.kind != "tun" }
  }
}

extension LinkClass {
  static func unclear(_ reason: String) -> LinkClass {
    LinkClass(medium: .other, isVirtual: true, reason: reason)
  }

  /// The class of a link whose lower link is unknown.
  static func unknown(_ link: Link) -> LinkClass {
    .unclear("the kernel does not report the link below `\(link.name)`")
  }
}

extension PathResolver {
  /// Finds the link that carries the packets of a tunnel, the last link of the path, to its remote address if known.
  func followTunnel(
    _ tunnel: Link,
    to remote: IPAddress?,
    _ path: NetworkPath
  ) throws(NetlinkError) -> PathFinding {
    if let remote { return try followOuterRoute(of: tunnel, to: remote, path) }
    if let carrier = try markedCarrier(path) { return try descend(to: carrier, path) }
    let candidates = try kernel.links(.all).filter { $0.mayCarry(path) }
    let usable = candidates.filter { $0.obstacle == nil }
    if let carrier = hostRouted(usable) { return try descend(to: carrier, path) }
    if let carrier = try bestRouted(usable) { return try descend(to: carrier, path) }
    // No route decides. But if all candidates are of one class, the tunnel has this class too.
    let independent = usable.filter { $0.master == nil }
    if independent.count > Self.mostCandidates { return finish(path, with: .unknown(tunnel)) }
    if !usable.isEmpty { return try gather(independent, below: path) }
    guard let obstacle = candidates.lazy.compactMap(\.obstacle).first else {
      return finish(path, with: .unknown(tunnel))
    }
    return .none("no usable link carries the tunnel `\(tunnel.name)`: \(obstacle)")
  }

  private func followOuterRoute(
    of tunnel: Link,
    to remote: IPAddress,
    _ path: NetworkPath
  ) throws(NetlinkError) -> PathFinding {
    let request = RouteRequest(destination: remote, device: tunnel.lower)
    guard case .route(let outer) = try kernel.route(request),
      let carrier = try kernel.links(.link(outer.nextHop.index)).first
    else { return .none("there is no route to the other end of the tunnel `\(tunnel.name)`") }
    return try descend(to: carrier, path)
  }

  /// The link that packets with a mark use.
  ///
  /// The WireGuard tools, NetworkManager and Tailscale mark the packets of their tunnels. Their routing rules
  /// keep marked packets out of the tunnel.
  private func markedCarrier(_ path: NetworkPath) throws(NetlinkError) -> Link? {
    for family in AddressFamily.allCases {
      for mark in try kernel.marks(family) {
        guard let probe = family.probes.first,
          case .route(let route) = try kernel.route(RouteRequest(destination: probe, mark: mark)),
          !path.links.contains(where: { $0.index == route.nextHop.index }),
          let link = try kernel.links(.link(route.nextHop.index)).first,
          !link.isTunnel, link.obstacle == nil
        else { continue }
        return link
      }
    }
    return nil
  }

  /// The link of all routes to single hosts on the internet; nil without such routes, or if they use several links.
  ///
  /// VPN clients such as OpenVPN add one for their gateway, so that the tunnel's own packets stay out of it.
  /// Routes that cannot be listed count as none, because other rules also find the link.
  private func hostRouted(_ links: [Link]) -> Link? {
    var carriers: Set<Int32> = []
    for family in AddressFamily.allCases {
      for route in (try? kernel.hostRoutes(family)) ?? [] where route.destination?.isPublic == true {
        carriers.insert(route.nextHop.index)
      }
    }
    let found = links.filter { carriers.contains($0.index) }
    return found.count == 1 ? found.first : nil
  }

  /// The link with the best route of its own to the internet.
  ///
  /// OpenVPN and NetworkManager keep the former default route and add a better one.
  private func bestRouted(_ links: [Link]) throws(NetlinkError) -> Link? {
    for family in AddressFamily.allCases {
      var best: (link: Link, metric: UInt32)?
      for link in links {
        guard let probe = family.probes.first,
          case .route(let route) = try kernel.route(RouteRequest(destination: probe, device: link.index)),
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
  /// Whether the link may carry a tunnel: it is no tunnel, not this host, and not above the tunnel.
  fileprivate func mayCarry(_ path: NetworkPath) -> Bool {
    !isTunnel && flags & LinkFlags.loopback == 0 && !path.links.contains { $0.index == index }
  }
}

extension PathResolver {
  /// Finds the link that carries a PPP connection.
  ///
  /// The kernel does not report which session belongs to which interface. Therefore each interface has a
  /// session only if there are as many PPPoE sessions as PPP interfaces.
  func followPPP(_ link: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    let carriers = kernel.carriersOfPPPoE()
    guard !carriers.isEmpty else { return try followLine(of: link, path) }
    let links = try kernel.links(.all)
    guard links.count(where: { $0.hardwareType == HardwareType.ppp }) <= carriers.count else {
      return finish(path, with: link.classed(.other, "is a PPP connection, over Ethernet or a modem"))
    }
    return try gather(links.filter { carriers.contains($0.name) }, below: path)
  }

  /// Follows a connection without PPPoE: over a modem, or over a tunnel program that pppd uses.
  ///
  /// Assumes a modem if nothing decides, because treating its data as free would cost the user.
  private func followLine(of link: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    if kernel.isPPPOverTunnel(link) {
      var path = path
      path.isTunnelled = true
      return try followTunnel(link, to: nil, path)
    }
    let reason = "is a PPP connection over a serial line, as with mobile modems"
    return finish(path, with: link.classed(.cellular, reason))
  }
}

/// The command line of pppd, which sets up a PPP connection.
enum PPPCommand {
  /// Whether the words of a command line show that the connection is a tunnel: they name no serial port, but a
  /// program for tunnels.
  static func isTunnel(_ words: [Substring]) -> Bool {
    !words.contains(where: namesSerialPort) && words.contains(where: namesTunnel)
  }

  private static func namesSerialPort(_ word: Substring) -> Bool {
    let name = word.split(separator: "/").last ?? ""
    return ["ttyUSB", "ttyACM", "ttyS", "ttyGS", "ttyHS", "rfcomm", "wwan", "cdc-wdm"].contains { port in
      name.hasPrefix(port) && name.dropFirst(port.count).first?.isNumber ?? false
    }
  }

  /// Whether a word names a pppd plugin for tunnels, or a program that runs pppd or serves as its line.
  private static func namesTunnel(_ word: Substring) -> Bool {
    ["pppol2tp", "pptp", "sstp", "openfortivpn", "openconnect", "xl2tpd"].contains { name in
      word.contains(name)
    }
  }
}

/// The PPPoE sessions in `/proc/net/pppoe`.
enum PPPoESession {
  /// The interfaces that carry sessions, one for each, in the order of the table.
  ///
  /// The table has a heading, then lines with an identifier, the address of the peer and the interface.
  static func carriers(inTable text: String) -> [String] {
    text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      return fields.count == 3 ? String(fields[2]) : nil
    }
  }
}
