import FeedimgSystem

/// The kind of layer below a link.
enum LinkStacking: Hashable, Sendable {
  /// Hardware, or no visible layer.
  case end
  /// One link.
  case on(Int32)
  /// A link of another namespace.
  case elsewhere
  /// The links that name this one as their master.
  case ports
  /// A tunnel, whose packets take their own route to its remote end. The address may be unknown.
  case tunnel(to: IPAddress?)
  /// A PPP connection: over a serial line to a modem, over Ethernet, or over a tunnel.
  case ppp

  /// Determines the layer below a link; asks for a device in sysfs only if that matters.
  init(_ link: Link, hasDevice: () -> Bool) {
    switch link.kind {
    case "bond":
      self = link.activePort.map { .on($0) } ?? .ports
    case "bridge", "team", "openvswitch", "hsr", "batadv", "vrf":
      self = .ports
    case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "8021q":
      self = Self.lower(of: link, else: .end)
    case "xfrm":
      self = Self.lower(of: link, else: .tunnel(to: nil))
    case "ppp": self = .ppp
    case _ where link.isTunnel: self = .tunnel(to: link.remote)
    case nil where link.hardwareType == HardwareType.none:
      // A modem without Ethernet headers looks the same, but has a device.
      self = link.parentDevice != nil || hasDevice() ? .end : .tunnel(to: nil)
    case nil where link.hardwareType == HardwareType.ppp && link.parentDevice == nil:
      self = .ppp
    default: self = .end
    }
  }

  private static func lower(of link: Link, else other: LinkStacking) -> LinkStacking {
    if link.isLowerElsewhere { return .elsewhere }
    return link.lower.map { .on($0) } ?? other
  }

  /// The kinds of links that encapsulate packets in IP packets.
  fileprivate static let tunnels: Set<String> = [
    "wireguard", "tun", "ovpn", "vti", "vti6", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan",
    "ipip", "sit", "ip6tnl", "vxlan", "geneve", "gtp", "bareudp", "amt", "l2tpeth", "xfrm",
  ]
}

extension Link {
  /// Whether the link is a tunnel, as far as its message says.
  ///
  /// Without a kind, its hardware type may be that of IPIP, IPv6 in IPv6, SIT, GRE or GRE over IPv6.
  var isTunnel: Bool {
    kind.map(LinkStacking.tunnels.contains) ?? [768, 769, 776, 778, 823].contains(hardwareType)
  }
}
