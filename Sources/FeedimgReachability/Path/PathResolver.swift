/// Finds the way of packets to the internet, from the route down to the hardware.
///
/// It never scans: the kernel looks up one route as it would for a packet, and only the links on that way
/// are asked for. Bridges, tunnels and dialled connections need a list, and only they do.
struct PathResolver<Kernel: KernelAsking> {
  /// More links than this are no path, but a loop that changes while it is followed.
  static var longestPath: Int { 8 }

  /// Among more links than this, nobody can guess which one carries a tunnel.
  static var mostCandidates: Int { 16 }

  let kernel: Kernel
  /// Who answered last over the internet, if that is known.
  var peer: IPAddress?

  /// Addresses to ask the way to, the best first; nothing is ever sent to them.
  ///
  /// The way to who answered last is the way that data takes, also where routes differ by destination. Only a host
  /// of the internet stands for it, though: the way to the next room would hide that the internet costs.
  private func probes(_ family: AddressFamily) -> [IPAddress] {
    guard let peer, peer.family == family, peer.isGlobal else { return family.probes }
    return [peer] + family.probes
  }

  /// Finds the way of one protocol.
  func find(_ family: AddressFamily) throws(NetlinkError) -> PathFinding {
    var reason: String?
    var asked: [Route.Leg] = []
    for probe in probes(family) {
      switch try kernel.route(RouteQuestion(destination: probe)) {
      case .none(let none): reason = reason ?? none.reason
      case .route(let route):
        guard route.legs != asked else { continue }
        asked = route.legs
        switch try follow(route) {
        case .path(let path): return .path(path)
        case .none(let obstacle): reason = reason ?? obstacle
        }
      }
    }
    return .none(reason ?? NoRoute.missing.reason)
  }

  /// Whether packets on this path have a source to which the internet can answer.
  ///
  /// A tunnel's other end translates, so that its addresses tell nothing.
  func hasInternetSource(_ path: NetworkPath) throws(NetlinkError) -> Bool {
    guard path.route.family == .v6, !path.isTunnelled else { return true }
    for probe in probes(path.route.family) {
      let question = RouteQuestion(destination: probe, wantsEntry: false)
      if case .route(let route) = try kernel.route(question) {
        return route.source?.isInternetSource ?? true
      }
    }
    return true
  }

  /// The ways over the other legs of a path's route, which some of the packets take.
  func waysBeside(_ path: NetworkPath) throws(NetlinkError) -> [NetworkPath] {
    var ways: [NetworkPath] = []
    for leg in path.route.legs where !leg.isDead && leg.index != path.leg.index {
      if case .path(let way) = try follow(leg, of: path.route) { ways.append(way) }
    }
    return ways
  }

  private func follow(_ route: Route) throws(NetlinkError) -> PathFinding {
    var finding = PathFinding.none(Self.gone)
    for leg in route.legsInOrder {
      finding = try follow(leg, of: route)
      if case .path = finding { return finding }
    }
    return finding
  }

  private func follow(_ leg: Route.Leg, of route: Route) throws(NetlinkError) -> PathFinding {
    guard let link = try kernel.links(.link(leg.index)).first else { return .none(Self.gone) }
    return try descend(to: link, NetworkPath(route: route, leg: leg, links: [], end: .untold(link)))
  }

  private static var gone: String { "the interface of the route to the internet has just gone" }

  /// Goes on with a link and what is below it.
  ///
  /// - Parameters:
  ///   - link: The link.
  ///   - path: What is above it.
  /// - Returns: The whole path, or what obstructs it.
  /// - Throws: What asking the kernel throws.
  func descend(to link: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    var path = path
    guard path.links.count < Self.longestPath, !path.links.contains(where: { $0.index == link.index }) else {
      path.end = LinkClass(
        medium: .unknown,
        isVirtual: true,
        reason: "the links below `\(path.top)` form a loop"
      )
      return .path(path)
    }
    path.links.append(link)
    path.isTunnelled = path.isTunnelled || link.isTunnel
    if let obstacle = link.obstacle { return .none(obstacle) }
    switch LinkStacking(link, hasDevice: { kernel.hasDevice(link) }) {
    case .end: return finish(path, with: LinkClassifier.classify(link, kernel.hardware(of: link)))
    case .on(let index):
      guard let lower = try kernel.links(.link(index)).first else { return finish(path, with: .untold(link)) }
      return try descend(to: lower, path)
    case .elsewhere: return finish(path, with: .elsewhere(link))
    case .ports: return try gather(try ports(of: link), below: path)
    case .dialled: return try answerCall(link, path)
    case .tunnel(nil) where link.kind == nil:
      // Several connections of one modem show as tunnels do, but with the modem below.
      if let lower = try kernel.lowerLinks(of: link).first { return try descend(to: lower, path) }
      path.isTunnelled = true
      return try digTunnel(link, to: nil, path)
    case .tunnel(let remote):
      path.isTunnelled = true
      return link.isLowerElsewhere ? finish(path, with: .untold(link)) : try digTunnel(link, to: remote, path)
    }
  }

  /// Ends a path with what its last link is.
  func finish(_ path: NetworkPath, with end: LinkClass) -> PathFinding {
    if end.medium == .noConnection { return .none(end.reason) }
    var path = path
    path.end = end
    return .path(path)
  }

  /// Joins the ways through several links that stand side by side into one, if they are of one kind.
  ///
  /// Ways over hardware count before those over software, and obstructed ones do not count at all.
  func gather(_ links: [Link], below path: NetworkPath) throws(NetlinkError) -> PathFinding {
    var ways: [NetworkPath] = []
    for link in links {
      if case .path(let way) = try descend(to: link, path) { ways.append(way) }
    }
    if ways.contains(where: { !$0.end.isVirtual }) { ways.removeAll { $0.end.isVirtual } }
    guard let first = ways.first else {
      return finish(
        path,
        with: LinkClass(medium: .unknown, isVirtual: true, reason: "nothing below `\(path.bottom)` leads out")
      )
    }
    guard ways.allSatisfy({ $0.end.medium == first.end.medium }) else {
      return finish(
        path,
        with: LinkClass(medium: .unknown, reason: "what is below `\(path.bottom)` is of several kinds")
      )
    }
    // Where one of them is a phone, the dearer answer holds.
    return .path(ways.first { $0.end.isTether } ?? first)
  }

  private func ports(of link: Link) throws(NetlinkError) -> [Link] {
    // A port made for a virtual machine or a program leads to it, not out.
    try kernel.links(.ports(of: link.index)).filter { $0.master == link.index && $0.kind != "tun" }
  }
}

extension NetworkPath {
  fileprivate var top: String { links.first?.name ?? "" }
  fileprivate var bottom: String { links.last?.name ?? "" }
}

extension LinkClass {
  /// What a link is whose lower link cannot be found.
  static func untold(_ link: Link) -> LinkClass {
    LinkClass(
      medium: .unknown,
      isVirtual: true,
      reason: "what carries the data of `\(link.name)` cannot be found out"
    )
  }

  /// What a link is whose lower link is in another namespace.
  fileprivate static func elsewhere(_ link: Link) -> LinkClass {
    LinkClass(
      medium: .ethernet,
      isVirtual: true,
      reason: "`\(link.name)` is on a link of another namespace, as containers have it"
    )
  }
}

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

extension PathResolver {
  /// Finds what carries a dialled connection (PPP).
  ///
  /// The kernel does not tell which session belongs to which interface. So only where there are as many
  /// PPPoE sessions as PPP interfaces does each have one.
  func answerCall(_ call: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    let carriers = Set(kernel.carriersOfPPPoE())
    guard !carriers.isEmpty else { return try followLine(of: call, path) }
    let links = try kernel.links(.all)
    let calls = links.filter { $0.hardwareType == HardwareType.ppp }
    guard calls.count <= kernel.carriersOfPPPoE().count else {
      return finish(
        path,
        with: LinkClass(
          medium: .unknown,
          reason: "`\(call.name)` is dialled, and nothing tells whether over Ethernet or by a modem"
        )
      )
    }
    return try gather(links.filter { carriers.contains($0.name) }, below: path)
  }

  /// Where no PPPoE is in sight: a modem, or a tunnel of a program that pppd speaks through.
  ///
  /// A modem is taken for granted where nothing tells, since to take its data for free would cost.
  private func followLine(of call: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    if kernel.dialler(of: call) == .tunnel {
      var path = path
      path.isTunnelled = true
      return try digTunnel(call, to: nil, path)
    }
    return finish(
      path,
      with: LinkClass(
        medium: .cellular,
        reason: "`\(call.name)` is dialled over a serial line, as mobile modems are"
      )
    )
  }
}

/// The program that holds a dialled connection (pppd), and what its command line tells of it.
enum Dialler {
  /// It speaks to a modem: a serial port is named.
  case modem
  /// It speaks to another program or host: the connection is a tunnel.
  case tunnel
  /// Nothing tells.
  case untold

  /// Judges by the words of a command line.
  init(words: [Substring]) {
    if words.contains(where: Self.namesSerialPort) {
      self = .modem
    } else if words.contains(where: Self.namesTunnel) {
      self = .tunnel
    } else {
      self = .untold
    }
  }

  private static func namesSerialPort(_ word: Substring) -> Bool {
    let name = word.split(separator: "/").last ?? ""
    return ["ttyUSB", "ttyACM", "ttyS", "ttyGS", "ttyHS", "rfcomm", "wwan", "cdc-wdm"].contains { port in
      name.hasPrefix(port) && name.dropFirst(port.count).first?.isNumber ?? false
    }
  }

  /// Plugins of pppd for tunnels, and programs that run pppd or are run by it as its line.
  private static func namesTunnel(_ word: Substring) -> Bool {
    ["pppol2tp", "pptp", "sstp", "openfortivpn", "openconnect", "xl2tpd"].contains { name in
      word.contains(name)
    }
  }
}

/// PPP over Ethernet, as `/proc/net/pppoe` lists it.
enum PPPoESession {
  /// The interfaces that carry sessions, one for each.
  ///
  /// - Parameter text: Lines of an identifier, the other end's address and the interface, after a heading.
  /// - Returns: Names, in the order of the table.
  static func carriers(inTable text: String) -> [String] {
    text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      return fields.count == 3 ? String(fields[2]) : nil
    }
  }
}
