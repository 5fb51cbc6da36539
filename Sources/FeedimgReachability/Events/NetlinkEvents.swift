import CLibNL
import CNetlink
import Glibc

/// A netlink socket that receives a message when links, addresses, routes or rules change.
///
/// Discards the content of the messages, because a slow reader would read outdated states.
package final class NetlinkEvents {
  /// Room for about 2,500 events.
  ///
  /// libnl's default of 32 KiB holds about 80.
  private static let bufferSize: Int32 = 1 << 20

  private let handle: OpaquePointer
  /// Whether the kernel drops events of narrow routes, so that they wake no thread.
  private(set) var dropsNarrowRoutes = false

  package var descriptor: Int32 { nl_socket_get_fd(handle) }

  /// Opens the socket and joins the groups.
  ///
  /// - Throws: `refused` if the system does not support these events or does not permit them.
  package init() throws(NetlinkError) {
    guard let handle = nl_socket_alloc() else { throw NetlinkError(code: .refused, number: ENOMEM) }
    self.handle = handle
    guard nl_connect(handle, NETLINK_ROUTE) == 0 else {
      throw NetlinkError(code: .refused, number: errno)
    }
    nl_socket_set_buffer_size(handle, Self.bufferSize, 0)
    // Before joining the groups, so that no unfiltered message arrives. If this fails, more events arrive.
    dropsNarrowRoutes = feedimg_drop_narrow_routes(nl_socket_get_fd(handle)) == 0
    for group in [RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_IFADDR]
    where nl_socket_add_membership(handle, Int32(group.rawValue)) != 0 {
      throw NetlinkError(code: .refused, number: errno)
    }
    // A kernel without one of these groups also lacks its feature.
    for group in [
      RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
    ] {
      nl_socket_add_membership(handle, Int32(group.rawValue))
    }
  }

  deinit {
    nl_socket_free(handle)
  }

  /// Discards the events that have arrived.
  ///
  /// - Returns: Whether there were any, and whether the kernel dropped some.
  @discardableResult package func drain() -> ArrivedEvents {
    var events = ArrivedEvents.none
    while true {
      // Reading a part of a datagram discards the rest.
      var word: UInt32 = 0
      if recv(descriptor, &word, MemoryLayout<UInt32>.size, Int32(MSG_DONTWAIT)) >= 0 {
        if case .none = events { events = .some }
        continue
      }
      switch errno {
      case EINTR: continue
      case ENOBUFS: events = .overrun
      default: return events
      }
    }
  }
}

/// The events that had arrived.
package enum ArrivedEvents {
  case none
  case some
  /// More than the socket could hold.
  case overrun
}
