import CNetlink

/// A question about interfaces.
enum LinkQuestion {
  case link(Int32)
  case all
  case ports(of: Int32)

  var request: NetlinkRequest {
    var header = ifinfomsg()
    if case .link(let index) = self { header.ifi_index = index }
    var request = NetlinkRequest(RTM_GETLINK, isList: isList, header: header)
    // The counters make up most of an answer and of the work for it.
    request.add(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    if case .ports(let master) = self { request.add(IFLA_MASTER, master) }
    return request
  }

  private var isList: Bool {
    if case .link = self { false } else { true }
  }
}
