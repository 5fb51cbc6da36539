import CLibNL
import CNetlink
import Glibc

/// A netlink socket that hears when links, addresses, routes or rules change.
///
/// What its messages say is of no interest: when it has fallen behind, they tell of the past.
package final class NetlinkEvents {
  /// Room for some 2,500 events; libnl's own 32 KiB have some 80.
  private static let bufferSize: Int32 = 1 << 20

  private let handle: OpaquePointer

  package var descriptor: Int32 { nl_socket_get_fd(handle) }

  /// Opens the socket and joins the groups.
  ///
  /// - Parameter isForAll: Whether changes of narrow routes come as well, and there is no more room than for some: for who
  ///   only asks now and then whether there was anything.
  /// - Throws: `refused` where the system has or allows no such events.
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

  /// Throws away what has come.
  package func discard() {
    _ = drain()
  }

  /// Throws away what has come, and tells what it was.
  func drain() -> NetworkWatch.Events {
    var events = NetworkWatch.Events.none
    while true {
      // A datagram is gone once a part of it has been read.
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
      // Before the groups, so that nothing comes unfiltered. Without it there are more events, no fewer.
      _ = feedimg_drop_narrow_routes(nl_socket_get_fd(handle))
    }
    for group in [RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_IFADDR]
    where nl_socket_add_membership(handle, Int32(group.rawValue)) != 0 {
      return false
    }
    // A kernel may lack these together with what they tell of.
    for group in [
      RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
    ] {
      nl_socket_add_membership(handle, Int32(group.rawValue))
    }
    return true
  }
}
