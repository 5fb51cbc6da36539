import CNetlink
import Glibc

/// A question for the route to an address, which the kernel looks up as it would for a packet of ours.
///
/// It costs the same however many routes there are, and heeds rules, marks, users and metrics.
struct RouteQuestion: Hashable {
  var destination: IPAddress
  /// Ask for the entry of the table as it stands (`RTM_F_FIB_MATCH`), which tells dead legs; otherwise for
  /// the way of one packet, which tells its source address.
  var wantsEntry = true
  /// Look up as for packets with this mark.
  var mark: UInt32?
  /// Look up as for packets that are bound to this interface.
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

  /// What an error number means as an answer.
  ///
  /// - Returns: Nil where it is none, but a failure to ask.
  static func answer(errorNumber: Int32) -> RouteAnswer? {
    switch errorNumber {
    case ENETUNREACH, ENODEV, ESRCH: .none(.missing)
    case EINVAL: .none(.blackhole)
    case EACCES: .none(.prohibit)
    case EHOSTUNREACH: .none(.unreachable)
    default: nil
    }
  }
}
