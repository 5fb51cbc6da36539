import CCurl
import Glibc

/// The sockets that libcurl waits for, and a bell that ends a wait; one thread uses them, others ring at most.
final class WatchedSockets {
  /// A socket on which something has happened.
  struct Ready {
    var socket: Int32
    /// In libcurl's bits, `CURL_CSELECT_IN` and its like.
    var events: Int32
  }

  private let bell: Int32
  /// What poll(2) waits for: the bell, then the sockets.
  private var entries: [pollfd]
  /// What the last wait has found.
  private var ready: [Ready] = []

  /// - Returns: Nil where the system is short of descriptors or memory.
  init?() {
    let bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard bell >= 0 else { return nil }
    entries = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
    self.bell = bell
  }

  deinit { close(bell) }

  /// Ends a wait that goes on, or else the next one; from any thread.
  func ring() { eventfd_write(bell, 1) }

  /// Told by libcurl what to wait for on a socket.
  static let callback: curl_socket_callback = { _, socket, interest, context, _ in
    guard let context else { return 0 }
    Unmanaged<WatchedSockets>.fromOpaque(context).takeUnretainedValue().watch(socket, for: interest)
    return 0
  }

  private func watch(_ socket: Int32, for interest: Int32) {
    let index = entries.dropFirst().firstIndex { $0.fd == socket }
    let events =
      switch interest {
      case CURL_POLL_IN: POLLIN
      case CURL_POLL_OUT: POLLOUT
      case CURL_POLL_INOUT: POLLIN | POLLOUT
      default: Int32(0)
      }
    switch (index, events) {
    case (nil, 0): break
    case (nil, _): entries.append(pollfd(fd: socket, events: Int16(events), revents: 0))
    case (let index?, 0):
      entries.swapAt(index, entries.count - 1)
      entries.removeLast()
    case (let index?, _): entries[index].events = Int16(events)
    }
  }

  /// Waits until something happens on a socket or the bell rings, and notes what.
  ///
  /// - Parameter milliseconds: The longest wait; zero only looks.
  func wait(milliseconds: Int32) {
    ready.removeAll(keepingCapacity: true)
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
    if entries[0].revents != 0 {
      var count = eventfd_t()
      eventfd_read(bell, &count)
    }
    for entry in entries.dropFirst() where entry.revents != 0 {
      ready.append(Ready(socket: entry.fd, events: Self.events(entry)))
    }
    // One that is closed would be found for ever.
    if ready.contains(where: { $0.events == CURL_CSELECT_ERR }) {
      entries.removeAll { Int32($0.revents) & POLLNVAL != 0 }
    }
  }

  /// Takes what the last wait has found.
  func takeReady() -> [Ready] {
    defer { ready.removeAll(keepingCapacity: true) }
    return ready
  }

  /// An error is left to be found by reading or writing, which tells more of it.
  private static func events(_ entry: pollfd) -> Int32 {
    let (wanted, found) = (Int32(entry.events), Int32(entry.revents))
    let isBroken = found & (POLLERR | POLLHUP) != 0
    var events: Int32 = 0
    if wanted & POLLIN != 0, isBroken || found & POLLIN != 0 { events |= CURL_CSELECT_IN }
    if wanted & POLLOUT != 0, isBroken || found & POLLOUT != 0 { events |= CURL_CSELECT_OUT }
    return events == 0 ? CURL_CSELECT_ERR : events
  }
}
