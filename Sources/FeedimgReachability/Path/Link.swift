import CNetlink
import FeedimgSystem

/// A network interface, as the kernel describes it.
struct Link: Hashable, Sendable {
  var index: Int32
  var name: String
  /// The type of hardware (`ARPHRD_…` of linux/if_arp.h).
  var hardwareType: UInt16 = 1
  /// `IFF_…` of linux/if.h.
  var flags: UInt32 = LinkFlags.usable
  /// `IF_OPER_…` of linux/if.h.
  var operationalState: UInt8 = OperationalState.unknown
  /// Whether there is a signal; nil if the message does not say.
  var hasCarrier: Bool?
  /// The kind of a software interface, such as `veth`; nil for most hardware.
  var kind: String?
  /// The interface below.
  ///
  /// If ``isLowerElsewhere``, it is in another namespace.
  var lower: Int32?
  /// Whether ``lower`` is an index of another namespace.
  var isLowerElsewhere = false
  /// The bridge, bond or team of this port.
  var master: Int32?
  /// The active port of a bond.
  var activePort: Int32?
  /// The other end of a tunnel.
  var remote: IPAddress?
  /// The device of the interface, such as `0000:00:03.0`, and its bus.
  var parentDevice: String?
  var parentBus: String?
  /// The number of times the carrier came up, which distinguishes one Wi-Fi connection from the next.
  var carrierUps: UInt32 = 0
}

/// Bits of ``Link/flags`` (`enum net_device_flags` of linux/if.h).
enum LinkFlags {
  static let up: UInt32 = 1 << 0
  static let loopback: UInt32 = 1 << 3
  static let running: UInt32 = 1 << 6
  static let lowerUp: UInt32 = 1 << 16
  static let usable = up | running | lowerUp
}

/// Values of ``Link/operationalState`` (RFC 2863, as numbered in linux/if.h).
enum OperationalState {
  static let unknown: UInt8 = 0
  static let notPresent: UInt8 = 1
  static let lowerLayerDown: UInt8 = 3
  static let dormant: UInt8 = 5
  static let up: UInt8 = 6
}

/// Values of ``Link/hardwareType`` (linux/if_arp.h).
enum HardwareType {
  static let ethernet: UInt16 = 1
  static let infiniband: UInt16 = 32
  static let ppp: UInt16 = 512
  static let rawIP: UInt16 = 519
  static let phonetPipe: UInt16 = 821
  static let rawIPOfRMNet: UInt16 = 530
  static let loopback: UInt16 = 772
  static let monitors: ClosedRange<UInt16> = 801...803
  static let none: UInt16 = 65534
}

extension Link {
  /// Reads an `RTM_NEWLINK` message; nil for other messages, and for a link without a name.
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
    let remotes = Self.remotes[kind] ?? []
    for attribute in data {
      if kind == "bond", attribute.type == IFLA_BOND_ACTIVE_SLAVE { activePort = attribute.int32 }
      guard remotes.contains(attribute.type), let address = IPAddress(attribute.payload) else { continue }
      if !address.isUnspecified { remote = address }
    }
  }

  /// The attributes for the remote address of a tunnel, by its kind (linux/if_tunnel.h and linux/if_link.h).
  private static let remotes: [String: [Int]] = [
    // IFLA_GRE_REMOTE
    "gre": [7], "gretap": [7], "ip6gre": [7], "ip6gretap": [7], "erspan": [7], "ip6erspan": [7],
    "ipip": [3], "sit": [3], "ip6tnl": [3],  // IFLA_IPTUN_REMOTE
    "vti": [5], "vti6": [5],  // IFLA_VTI_REMOTE
    "vxlan": [2, 16],  // IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6
    "geneve": [2, 7],  // IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6
  ]
}

extension Link {
  /// Why no packet can pass, in words; nil if packets can pass.
  ///
  /// The operational state may lag behind the carrier, because linkwatch updates it up to a second late. Some
  /// devices report it as unknown. Both count as usable.
  var obstacle: String? {
    guard flags & LinkFlags.up != 0 else { return "`\(name)` is switched off" }
    guard hasCarrier ?? (flags & LinkFlags.lowerUp != 0) else { return "`\(name)` has no carrier" }
    switch operationalState {
    case OperationalState.dormant: return "`\(name)` is not yet authenticated"
    case OperationalState.lowerLayerDown: return "the link below `\(name)` is down"
    case OperationalState.notPresent: return "the device of `\(name)` is absent"
    default: return nil
    }
  }
}

/// The interfaces to read.
enum LinkRequest {
  case link(Int32)
  case all
  case ports(of: Int32)

  var request: NetlinkRequest {
    var header = ifinfomsg()
    if case .link(let index) = self { header.ifi_index = index }
    var request = NetlinkRequest(RTM_GETLINK, isList: isList, header: header)
    // Statistics would be most of the reply and of the work for it.
    request.add(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    if case .ports(let master) = self { request.add(IFLA_MASTER, master) }
    return request
  }

  private var isList: Bool {
    if case .link = self { false } else { true }
  }
}
