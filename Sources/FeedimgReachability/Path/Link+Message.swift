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
    guard let kind else { return }
    let remotes = Self.remoteAttributes[kind]
    for attribute in data {
      if kind == "bond", attribute.type == IFLA_BOND_ACTIVE_SLAVE { activePort = attribute.int32 }
      if let remotes, remotes.contains(attribute.type) {
        remote = IPAddress(attribute.payload).flatMap { $0.isUnspecified ? nil : $0 } ?? remote
      }
    }
  }

  /// The attributes that hold the other end of a tunnel, by kind (linux/if_tunnel.h and linux/if_link.h).
  private static let remoteAttributes: [String: [Int]] = [
    "gre": [7], "gretap": [7], "ip6gre": [7], "ip6gretap": [7],  // IFLA_GRE_REMOTE
    "erspan": [7], "ip6erspan": [7],
    "ipip": [3], "sit": [3], "ip6tnl": [3],  // IFLA_IPTUN_REMOTE
    "vti": [5], "vti6": [5],  // IFLA_VTI_REMOTE
    "vxlan": [2, 16],  // IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6
    "geneve": [2, 7],  // IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6
  ]
}
