import CNetlink
import Glibc

/// Asks nl80211 about Wi-Fi, over a socket that opens with the first question.
final class WirelessReader {
  private var socket: NetlinkSocket?
  private var family: Int?
  private var lastJoined: (association: Association, network: WirelessNetwork)?

  /// What tells one stay in a network from the next.
  private struct Association: Equatable {
    var index: Int32
    var carrierUps: UInt32
  }

  /// Whether nl80211 can be asked.
  var isThere: Bool {
    ask({ WirelessMessages.interface(0, family: $0) }, each: { _ in })
    return family != nil
  }

  /// The mode of an interface.
  ///
  /// - Returns: Nil where it is no Wi-Fi, or nl80211 is not there or refused.
  func mode(of link: Link) -> Hardware.WirelessMode? {
    var mode: Hardware.WirelessMode?
    ask(
      { WirelessMessages.interface(link.index, family: $0) },
      each: { mode = mode ?? WirelessMessages.mode($0) }
    )
    return mode
  }

  /// The network that an interface is joined to.
  ///
  /// It stays the same as long as the carrier does, so it is asked for once.
  ///
  /// - Returns: Nil where it is joined to none, or nl80211 does not tell.
  func network(of link: Link) -> WirelessNetwork? {
    let association = Association(index: link.index, carrierUps: link.carrierUps)
    if let lastJoined, lastJoined.association == association { return lastJoined.network }
    var network: WirelessNetwork?
    ask(
      { WirelessMessages.networks(link.index, family: $0) },
      each: { network = network ?? WirelessMessages.joinedNetwork($0) }
    )
    lastJoined = network.map { (association, $0) }
    return network
  }

  private func ask(_ request: (Int) -> NetlinkRequest, each body: (NetlinkMessage) -> Void) {
    do throws(NetlinkError) {
      if socket == nil { socket = try NetlinkSocket(family: NETLINK_GENERIC) }
      guard let socket else { return }
      if family == nil { family = try findFamily(socket) }
      guard let family else { return }
      try socket.ask(request(family), body)
    } catch {
      // The module may have been loaded anew, with another number.
      if error.number == ENOENT { family = nil }
      // Where an answer was cut off, the rest of it must not be taken for the next.
      if error.code != .negative { socket = nil }
    }
  }

  private func findFamily(_ socket: NetlinkSocket) throws(NetlinkError) -> Int? {
    var family: Int?
    try socket.ask(WirelessMessages.families) { family = family ?? WirelessMessages.family($0) }
    return family
  }
}
