import CNetlink
import FeedimgSystem
import Glibc

/// The route of packets to a destination, up to the first interface.
struct Route: Hashable, Sendable {
  /// One next hop of a route.
  struct NextHop: Hashable, Sendable {
    var index: Int32
    var gateway: IPAddress?
    var isDead = false
  }

  var family: AddressFamily
  /// The network of the route; nil for the default route.
  var destination: IPAddress?
  var prefixLength: UInt8 = 0
  /// At least one.
  var nextHops: [NextHop]
  var metric: UInt32 = 0
  /// The source address of packets; nil if it was not requested.
  var source: IPAddress?

  /// The first live next hop, or otherwise the first.
  var nextHop: NextHop { nextHops.first { !$0.isDead } ?? nextHops[0] }

  /// The next hops, live ones first, because the kernel may notice a dead next hop up to a second late.
  var nextHopsInOrder: [NextHop] {
    nextHops.count == 1 ? nextHops : nextHops.filter { !$0.isDead } + nextHops.filter(\.isDead)
  }

  /// The request for all routes of a protocol.
  static func listRequest(_ family: AddressFamily) -> NetlinkRequest {
    var header = rtmsg()
    header.rtm_family = family.number
    return NetlinkRequest(RTM_GETROUTE, isList: true, header: header)
  }

  /// The route in the notation of `ip route`, such as `default via 192.0.2.1 dev wlan0`.
  func text(_ nextHop: NextHop, device: String) -> String {
    let network = prefixLength == 0 ? "default" : "\(destination ?? family.unspecified)/\(prefixLength)"
    guard let gateway = nextHop.gateway else { return "\(network) dev \(device)" }
    return "\(network) via \(gateway) dev \(device)"
  }
}

/// The kernel's reply to a route request.
enum RouteReply: Hashable, Sendable {
  case route(Route)
  case none(NoRoute)
}

/// The reason why there is no route, in words.
enum NoRoute: String, Sendable {
  /// No route covers the destination.
  case missing = "there is no route to the internet"
  case blackhole = "the route to the internet is a blackhole"
  case prohibit = "the route to the internet is prohibited"
  case unreachable = "the route to the internet is marked unreachable"
  case local = "the route to the internet leads back to this host"
}

/// A request for the route to an address, which the kernel looks up as for a packet of this process.
///
/// The cost does not depend on the number of routes. Rules, marks, users and metrics apply.
struct RouteRequest: Hashable {
  var destination: IPAddress
  /// Whether to request the entry of the routing table (`RTM_F_FIB_MATCH`), which shows dead next hops;
  /// otherwise the route of one packet, which shows its source address.
  var wantsEntry = true
  /// The mark of the packets; nil for none.
  var mark: UInt32?
  /// The interface to which the packets are bound; nil for none.
  var device: Int32?

  var request: NetlinkRequest {
    var header = rtmsg()
    header.rtm_family = destination.family.number
    header.rtm_dst_len = destination.family.addressLength
    if wantsEntry { header.rtm_flags = UInt32(RTM_F_FIB_MATCH) }
    var request = NetlinkRequest(RTM_GETROUTE, header: header)
    destination.withBytes { request.add(Int(RTA_DST.rawValue), bytes: $0) }
    if let mark { request.add(Int(RTA_MARK.rawValue), mark) }
    if let device { request.add(Int(RTA_OIF.rawValue), device) }
    return request
  }

  /// The reply that an error number stands for; nil if the number means that the request failed.
  static func reply(errorNumber: Int32) -> RouteReply? {
    switch errorNumber {
    case ENETUNREACH, ENODEV, ESRCH: .none(.missing)
    case EINVAL: .none(.blackhole)
    case EACCES: .none(.prohibit)
    case EHOSTUNREACH: .none(.unreachable)
    default: nil
    }
  }
}

extension RouteReply {
  /// Reads an `RTM_NEWROUTE` message, the reply to a ``RouteRequest``.
  ///
  /// - Returns: Nil for other messages, and for a route without an interface.
  init?(_ message: NetlinkMessage) {
    guard message.type == RTM_NEWROUTE, let header = message.header(as: rtmsg.self) else { return nil }
    switch Int(header.rtm_type) {
    case RTN_UNICAST:
      guard let route = Route(header: header, message.attributes(after: MemoryLayout<rtmsg>.size)) else {
        return nil
      }
      self = .route(route)
    case RTN_BLACKHOLE: self = .none(.blackhole)
    case RTN_PROHIBIT: self = .none(.prohibit)
    case RTN_UNREACHABLE, RTN_THROW: self = .none(.unreachable)
    default: self = .none(.local)
    }
  }
}

extension Route {
  fileprivate init?(header: rtmsg, _ attributes: Attributes) {
    let family: AddressFamily = header.rtm_family == AddressFamily.v4.number ? .v4 : .v6
    self.init(family: family, prefixLength: header.rtm_dst_len, nextHops: [])
    var only = NextHop(index: 0, isDead: Self.isDead(header.rtm_flags))
    for attribute in attributes {
      switch UInt32(attribute.type) {
      case RTA_DST.rawValue: destination = IPAddress(attribute.payload)
      case RTA_OIF.rawValue: only.index = attribute.int32 ?? 0
      case RTA_GATEWAY.rawValue, RTA_VIA.rawValue: only.gateway = Self.gateway(attribute)
      case RTA_PRIORITY.rawValue: metric = attribute.uint32 ?? 0
      case RTA_PREFSRC.rawValue: source = IPAddress(attribute.payload)
      case RTA_MULTIPATH.rawValue: nextHops = Self.nextHops(attribute.payload)
      default: break
      }
    }
    if nextHops.isEmpty, only.index > 0 { nextHops = [only] }
    if nextHops.isEmpty { return nil }
  }

  /// Reads the next hops of a route with several (`struct rtnexthop` of linux/rtnetlink.h).
  private static func nextHops(_ bytes: UnsafeRawBufferPointer) -> [NextHop] {
    let headerLength = MemoryLayout<rtnexthop>.size
    var nextHops: [NextHop] = []
    var rest = bytes
    while rest.count >= headerLength {
      let header = rest.loadUnaligned(as: rtnexthop.self)
      let length = Int(header.rtnh_len)
      guard length >= headerLength, length <= rest.count else { break }
      var nextHop = NextHop(index: header.rtnh_ifindex, isDead: isDead(UInt32(header.rtnh_flags)))
      for attribute in Attributes(UnsafeRawBufferPointer(rebasing: rest[headerLength..<length])) {
        nextHop.gateway = gateway(attribute) ?? nextHop.gateway
      }
      if nextHop.index > 0 { nextHops.append(nextHop) }
      rest = UnsafeRawBufferPointer(rebasing: rest[min(aligned(length), rest.count)...])
    }
    return nextHops
  }

  /// Reads a gateway, which `RTA_VIA` gives if it is of the other family (`struct rtvia` of linux/rtnetlink.h).
  private static func gateway(_ attribute: Attribute) -> IPAddress? {
    switch UInt32(attribute.type) {
    case RTA_GATEWAY.rawValue: IPAddress(attribute.payload)
    case RTA_VIA.rawValue: IPAddress(UnsafeRawBufferPointer(rebasing: attribute.payload.dropFirst(2)))
    default: nil
    }
  }

  private static func isDead(_ flags: UInt32) -> Bool {
    flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) != 0
  }
}

/// A packet mark in a routing rule.
struct RuleMark: Hashable, Sendable {
  /// The most marks to try.
  private static let most = 16

  var mark: UInt32
  /// Whether the rule applies to all packets except those with the mark.
  var isInverted = false

  /// The request for all rules of a protocol.
  static func request(_ family: AddressFamily) -> NetlinkRequest {
    var header = fib_rule_hdr()
    header.family = family.number
    return NetlinkRequest(RTM_GETRULE, isList: true, header: header)
  }

  /// The marks, each once.
  ///
  /// Marks that exempt a tunnel's own packets come first.
  static func inOrder(_ rules: [RuleMark]) -> [UInt32] {
    var marks: [UInt32] = []
    for rule in rules.filter(\.isInverted) + rules.filter({ !$0.isInverted })
    where !marks.contains(rule.mark) && marks.count < most {
      marks.append(rule.mark)
    }
    return marks
  }
}

extension RuleMark {
  /// Reads an `RTM_NEWRULE` message; nil for other messages, and for rules without a mark.
  init?(_ message: NetlinkMessage) {
    guard message.type == RTM_NEWRULE, let header = message.header(as: fib_rule_hdr.self) else {
      return nil
    }
    self.init(mark: 0, isInverted: header.flags & UInt32(FIB_RULE_INVERT) != 0)
    for attribute in message.attributes(after: MemoryLayout<fib_rule_hdr>.size)
    where attribute.type == FRA_FWMARK {
      mark = attribute.uint32 ?? 0
    }
    if mark == 0 { return nil }
  }
}
