import CLibNL
import CNetlink
import Glibc

/// A netlink socket that receives a message when links, addresses, routes or rules change.
///
/// The content of the messages is discarded: a reader that lags would read the past.
package final class NetlinkEvents {
  /// Room for some 2,500 events; the 32 KiB of libnl hold some 80.
  private static let bufferSize: Int32 = 1 << 20

  private let handle: OpaquePointer

  package var descriptor: Int32 { nl_socket_get_fd(handle) }

  /// Opens the socket and joins the groups.
  ///
  /// - Parameter isForAll: True for a reader that only checks for events now and then: changes of narrow routes come too,
  ///   and the buffer stays small.
  /// - Throws: `refused` where the system has no such events, or does not allow them.
  package init(isForAll: Bool = false) throws(NetlinkError) {
    guard let handle = nl_socket_alloc() else { throw NetlinkError(code: .refused, number: ENOMEM) }
    guard Self.open(handle, isForAll: isForAll) else {
      let number = errno
      nl_socket_free(handle)
      throw NetlinkError(code: .refused, number: number)
    }
    self.handle = handle
  }

  deinit {
    nl_socket_free(handle)
  }

  /// Discards the events that have come.
  package func discard() {
    _ = drain()
  }

  /// Discards the events that have come.
  ///
  /// - Returns: Whether there were any, and whether the kernel dropped some.
  func drain() -> NetworkWatch.Events {
    var events = NetworkWatch.Events.none
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

  private static func open(_ handle: OpaquePointer, isForAll: Bool) -> Bool {
    guard nl_connect(handle, NETLINK_ROUTE) == 0 else { return false }
    if !isForAll {
      nl_socket_set_buffer_size(handle, bufferSize, 0)
      // Before the groups, so that no message comes unfiltered. Where this fails, more events come, not fewer.
      _ = feedimg_drop_narrow_routes(nl_socket_get_fd(handle))
    }
    for group in [RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_IFADDR]
    where nl_socket_add_membership(handle, Int32(group.rawValue)) != 0 {
      return false
    }
    // A kernel without one of these groups also lacks its subject.
    for group in [
      RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
    ] {
      nl_socket_add_membership(handle, Int32(group.rawValue))
    }
    return true
  }
}
