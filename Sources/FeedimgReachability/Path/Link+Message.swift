import CNetlink

extension Link {
  /// Reads an `RTM_NEWLINK` message.
  ///
  /// - Returns: Nil for other messages, and where it has no name.
  init?(_ message: NetlinkMessage) {
    guard message.type == RTM_NEWLINK, let header = message.header(as: ifinfomsg.self) else {
      return nil
    }
    self.init(index: header.ifi_index, name: "", hardwareType: header.ifi_type, flags: header.ifi_flags)
    for attribute in message.attributes(after: MemoryLayout<ifinfomsg>.size) {
      switch attribute.type {
      case IFLA_IFNAME: name = attribute.string
      case IFLA_OPERSTATE: operationalState = attribute.uint8 ?? operationalState
      case IFLA_CARRIER: hasCarrier = attribute.uint8.map { $0 != 0 }
      case IFLA_CARRIER_UP_COUNT: carrierUps = attribute.uint32 ?? 0
      case IFLA_LINK: lower = attribute.int32.flatMap { $0 > 0 ? $0 : nil }
      case IFLA_LINK_NETNSID: isLowerElsewhere = true
      case IFLA_MASTER: master = attribute.int32
      case IFLA_PARENT_DEV_NAME: parentDevice = attribute.string
      case IFLA_PARENT_DEV_BUS_NAME: parentBus = attribute.string
      case IFLA_LINKINFO: read(information: attribute.nested)
      default: break
      }
    }
    if name.isEmpty { return nil }
  }

  // The kernel writes the kind before the data that depends on it.
  private mutating func read(information: Attributes) {
    for attribute in information {
      switch attribute.type {
      case IFLA_INFO_KIND: kind = attribute.string
      case IFLA_INFO_DATA: read(data: attribute.nested)
      default: break
      }
    }
  }

  private mutating func read(data: Attributes) {
    for attribute in data {
      switch (kind, attribute.type) {
      case ("bond", IFLA_BOND_ACTIVE_SLAVE): activePort = attribute.int32
      case (let kind?, let type) where Self.isRemote(type, of: kind):
        if let address = IPAddress(attribute.payload), !address.isUnspecified { remote = address }
      default: break
      }
    }
  }

  /// Whether an attribute is the other end of a tunnel (linux/if_tunnel.h and linux/if_link.h).
  private static func isRemote(_ type: Int, of kind: String) -> Bool {
    switch kind {
    case "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan": type == 7  // IFLA_GRE_REMOTE
    case "ipip", "sit", "ip6tnl": type == 3  // IFLA_IPTUN_REMOTE
    case "vti", "vti6": type == 5  // IFLA_VTI_REMOTE
    case "vxlan": type == 2 || type == 16  // IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6
    case "geneve": type == 2 || type == 7  // IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6
    default: false
    }
  }
}
