import CNetlink
import Glibc

/// Reads Wi-Fi properties from nl80211, over a socket that opens at the first request.
final class WirelessReader {
  private var socket: NetlinkSocket?
  private var family: Int?
  private var lastJoined: (association: Association, network: WirelessNetwork)?

  /// Distinguishes one connection to a network from the next.
  private struct Association: Equatable {
    var index: Int32
    var carrierUps: UInt32
  }

  /// Whether nl80211 is available.
  var isAvailable: Bool {
    exchange({ WirelessMessages.interface(0, family: $0) }, each: { _ in })
    return family != nil
  }

  /// The mode of an interface; nil if the interface is not Wi-Fi, or nl80211 is missing or refused.
  func mode(of link: Link) -> Hardware.WirelessMode? {
    var mode: Hardware.WirelessMode?
    exchange(
      { WirelessMessages.interface(link.index, family: $0) },
      each: { mode = mode ?? WirelessMessages.mode($0) }
    )
    return mode
  }

  /// The network to which an interface is connected; nil if there is none, or nl80211 does not report it.
  ///
  /// It cannot change while the carrier stays up, so it is requested once.
  func network(of link: Link) -> WirelessNetwork? {
    let association = Association(index: link.index, carrierUps: link.carrierUps)
    if let lastJoined, lastJoined.association == association { return lastJoined.network }
    var network: WirelessNetwork?
    exchange(
      { WirelessMessages.networks(link.index, family: $0) },
      each: { network = network ?? WirelessMessages.joinedNetwork($0) }
    )
    lastJoined = network.map { (association, $0) }
    return network
  }

  private func exchange(_ request: (Int) -> NetlinkRequest, each body: (NetlinkMessage) -> Void) {
    do throws(NetlinkError) {
      if socket == nil { socket = try NetlinkSocket(family: NETLINK_GENERIC) }
      guard let socket else { return }
      if family == nil { family = try findFamily(socket) }
      guard let family else { return }
      try socket.exchange(request(family), body)
    } catch {
      // The module may have been loaded again, with another number.
      if error.number == ENOENT { family = nil }
      // After a truncated reply, the rest must not be read as the next reply.
      if error.code != .negative { socket = nil }
    }
  }

  private func findFamily(_ socket: NetlinkSocket) throws(NetlinkError) -> Int? {
    var family: Int?
    try socket.exchange(WirelessMessages.families) { family = family ?? WirelessMessages.family($0) }
    return family
  }
}

/// The messages of nl80211, the kernel's Wi-Fi interface (linux/nl80211.h).
enum WirelessMessages {
  /// The length of the fixed part of a generic netlink message, before its attributes.
  static let headerLength = MemoryLayout<genlmsghdr>.size

  /// The request for the numbers of all generic netlink families.
  ///
  /// A request by name would make the kernel load a missing module, which takes milliseconds.
  static var families: NetlinkRequest {
    NetlinkRequest(Int(GENL_ID_CTRL), isList: true, header: header(CTRL_CMD_GETFAMILY, version: 2))
  }

  /// Reads the number of nl80211; nil if the message describes another family.
  static func family(_ message: NetlinkMessage) -> Int? {
    var (name, number) = ("", 0)
    for attribute in message.attributes(after: headerLength) {
      switch attribute.type {
      case CTRL_ATTR_FAMILY_NAME: name = attribute.string
      case CTRL_ATTR_FAMILY_ID: number = Int(attribute.uint16 ?? 0)
      default: break
      }
    }
    return name == NL80211_GENL_NAME && number > 0 ? number : nil
  }

  /// The request for the mode of an interface.
  static func interface(_ index: Int32, family: Int) -> NetlinkRequest {
    var request = NetlinkRequest(family, header: header(NL80211_CMD_GET_INTERFACE))
    request.add(Int(NL80211_ATTR_IFINDEX.rawValue), index)
    return request
  }

  /// Reads the mode of an interface.
  static func mode(_ message: NetlinkMessage) -> Hardware.WirelessMode? {
    for attribute in message.attributes(after: headerLength)
    where attribute.type == NL80211_ATTR_IFTYPE.rawValue {
      switch attribute.uint32 {
      case NL80211_IFTYPE_STATION.rawValue, NL80211_IFTYPE_P2P_CLIENT.rawValue,
        NL80211_IFTYPE_ADHOC.rawValue, NL80211_IFTYPE_MESH_POINT.rawValue, NL80211_IFTYPE_OCB.rawValue:
        return .client
      case NL80211_IFTYPE_AP.rawValue, NL80211_IFTYPE_AP_VLAN.rawValue, NL80211_IFTYPE_P2P_GO.rawValue:
        return .accessPoint
      case NL80211_IFTYPE_MONITOR.rawValue: return .monitor
      default: return nil
      }
    }
    return nil
  }

  /// The request for the known networks.
  ///
  /// It starts no scan.
  static func networks(_ index: Int32, family: Int) -> NetlinkRequest {
    var request = NetlinkRequest(family, isList: true, header: header(NL80211_CMD_GET_SCAN))
    request.add(Int(NL80211_ATTR_IFINDEX.rawValue), index)
    return request
  }

  /// Reads one known network; nil if this host is not connected to it.
  static func joinedNetwork(_ message: NetlinkMessage) -> WirelessNetwork? {
    for attribute in message.attributes(after: headerLength)
    where attribute.type == NL80211_ATTR_BSS.rawValue {
      let status = attribute.nested.first { $0.type == NL80211_BSS_STATUS.rawValue }?.uint32
      return isJoined(status) ? WirelessNetwork(joined: attribute.nested) : nil
    }
    return nil
  }

  private static func isJoined(_ status: UInt32?) -> Bool {
    status == NL80211_BSS_STATUS_ASSOCIATED.rawValue || status == NL80211_BSS_STATUS_IBSS_JOINED.rawValue
  }

  private static func header(_ command: Int, version: UInt8 = 0) -> genlmsghdr {
    genlmsghdr(cmd: UInt8(command), version: version, reserved: 0)
  }

  private static func header(_ command: nl80211_commands) -> genlmsghdr {
    header(Int(command.rawValue))
  }
}

extension WirelessNetwork {
  fileprivate init(joined attributes: Attributes) {
    self.init()
    for attribute in attributes where attribute.type == NL80211_BSS_BSSID.rawValue {
      guard attribute.payload.count == 6 else { continue }
      accessPoint = attribute.payload.reduce(0) { $0 << 8 | UInt64($1) }
    }
    // The last probe response and the last beacon. Either may have elements that the other lacks.
    for attribute in attributes
    where attribute.type == NL80211_BSS_INFORMATION_ELEMENTS.rawValue
      || attribute.type == NL80211_BSS_BEACON_IES.rawValue
    {
      read(InformationElements(attribute.payload))
    }
  }
}
