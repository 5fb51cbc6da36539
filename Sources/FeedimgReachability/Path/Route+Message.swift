import CNetlink

extension RouteAnswer {
  /// Reads an `RTM_NEWROUTE` message, the answer to a ``RouteQuestion``.
  ///
  /// - Returns: Nil for other messages, and for a route without an interface.
  init?(_ message: NetlinkMessage) {
    guard message.type == RTM_NEWROUTE, let header = message.header(as: rtmsg.self) else { return nil }
    switch Int(header.rtm_type) {
    case RTN_UNICAST: break
    case RTN_BLACKHOLE:
      self = .none(.blackhole)
      return
    case RTN_PROHIBIT:
      self = .none(.prohibit)
      return
    case RTN_UNREACHABLE, RTN_THROW:
      self = .none(.unreachable)
      return
    default:
      self = .none(.local)
      return
    }
    guard let route = Route(header: header, message.attributes(after: MemoryLayout<rtmsg>.size)) else {
      return nil
    }
    self = .route(route)
  }
}

extension Route {
  fileprivate init?(header: rtmsg, _ attributes: Attributes) {
    let family: AddressFamily = header.rtm_family == AddressFamily.v4.number ? .v4 : .v6
    self.init(family: family, prefixLength: header.rtm_dst_len, legs: [])
    var only = Leg(index: 0, isDead: Self.isDead(header.rtm_flags))
    for attribute in attributes {
      switch UInt32(attribute.type) {
      case RTA_DST.rawValue: destination = IPAddress(attribute.payload)
      case RTA_OIF.rawValue: only.index = attribute.int32 ?? 0
      case RTA_GATEWAY.rawValue: only.gateway = IPAddress(attribute.payload)
      case RTA_VIA.rawValue: only.gateway = Self.gateway(via: attribute.payload)
      case RTA_PRIORITY.rawValue: metric = attribute.uint32 ?? 0
      case RTA_PREFSRC.rawValue: source = IPAddress(attribute.payload)
      case RTA_MULTIPATH.rawValue: legs = Self.legs(attribute.payload)
      default: break
      }
    }
    if legs.isEmpty, only.index > 0 { legs = [only] }
    if legs.isEmpty { return nil }
  }

  /// Reads the legs of a route that has several (`struct rtnexthop` of linux/rtnetlink.h).
  private static func legs(_ bytes: UnsafeRawBufferPointer) -> [Leg] {
    let headerLength = MemoryLayout<rtnexthop>.size
    var legs: [Leg] = []
    var rest = bytes
    while rest.count >= headerLength {
      let header = rest.loadUnaligned(as: rtnexthop.self)
      let length = Int(header.rtnh_len)
      guard length >= headerLength, length <= rest.count else { break }
      var leg = Leg(index: header.rtnh_ifindex, isDead: isDead(UInt32(header.rtnh_flags)))
      for attribute in Attributes(UnsafeRawBufferPointer(rebasing: rest[headerLength..<length])) {
        switch UInt32(attribute.type) {
        case RTA_GATEWAY.rawValue: leg.gateway = IPAddress(attribute.payload)
        case RTA_VIA.rawValue: leg.gateway = gateway(via: attribute.payload)
        default: break
        }
      }
      if leg.index > 0 { legs.append(leg) }
      rest = UnsafeRawBufferPointer(rebasing: rest[min(aligned(length), rest.count)...])
    }
    return legs
  }

  /// Reads a gateway of the other family (`struct rtvia` of linux/rtnetlink.h).
  private static func gateway(via bytes: UnsafeRawBufferPointer) -> IPAddress? {
    guard bytes.count > 2 else { return nil }
    return IPAddress(UnsafeRawBufferPointer(rebasing: bytes[2...]))
  }

  private static func isDead(_ flags: UInt32) -> Bool {
    flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) != 0
  }
}
