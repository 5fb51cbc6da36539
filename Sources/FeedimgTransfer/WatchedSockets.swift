import CCurl
import Glibc

/// The sockets that libcurl waits for, and a bell that ends a wait; one thread uses them, others ring at most.
final class WatchedSockets {
  fileprivate struct State {
    /// What poll(2) waits for: the bell, then the sockets.
    var entries: [pollfd]
    /// What the last wait has found.
    var ready: [Ready] = []
    var isHandedOut = false
  }

  /// A socket on which something has happened, in libcurl's bits, `CURL_CSELECT_IN` and its like.
  fileprivate struct Ready {
    var socket: Int32
    var events: Int32
  }

  private let bell: Int32
  /// At a place of its own: Swift would look each time whether others are at a variable of a class, which takes longer
  /// than to take note of a socket.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  /// - Returns: Nil where the system is short of descriptors or memory.
  init?() {
    let bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard bell >= 0 else { return nil }
    state.initialize(to: State(entries: [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]))
    self.bell = bell
  }

  deinit {
    close(bell)
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Ends a wait that goes on, or else the next one; from any thread.
  func ring() { eventfd_write(bell, 1) }

  /// Told by libcurl what to wait for on a socket.
  static let callback: curl_socket_callback = { _, socket, interest, context, _ in
    guard let context else { return 0 }
    Unmanaged<WatchedSockets>.fromOpaque(context).takeUnretainedValue().state.pointee.watch(socket, interest)
    return 0
  }

  /// Waits until something happens on a socket or the bell rings, and notes what.
  ///
  /// - Parameter milliseconds: The longest wait; zero only looks.
  /// - Returns: Whether anything has happened.
  func wait(milliseconds: Int32) -> Bool {
    let state = self.state
    state.pointee.ready.removeAll(keepingCapacity: true)
    state.pointee.isHandedOut = false
    let count = nfds_t(state.pointee.entries.count)
    guard poll(&state.pointee.entries, count, milliseconds) > 0 else { return false }
    if state.pointee.entries[0].revents != 0 {
      var count = eventfd_t()
      eventfd_read(bell, &count)
    }
    state.pointee.note()
    return true
  }

  /// Hands out what the last wait has found, once.
  func forEachReady(_ body: (_ socket: Int32, _ events: Int32) -> Void) {
    guard !state.pointee.isHandedOut else { return }
    state.pointee.isHandedOut = true
    // By its index, as what is called may change what is watched.
    for index in state.pointee.ready.indices {
      let ready = state.pointee.ready[index]
      body(ready.socket, ready.events)
    }
  }

  /// Has it handed out once more, as far as it was something to read and is still asked for.
  ///
  /// - Returns: Whether any is left.
  func expectAgain() -> Bool { state.pointee.expectAgain() }
}

extension WatchedSockets.State {
  fileprivate mutating func watch(_ socket: Int32, _ interest: Int32) {
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

  /// Takes down what poll(2) has found.
  fileprivate mutating func note() {
    for entry in entries.dropFirst() where entry.revents != 0 {
      ready.append(WatchedSockets.Ready(socket: entry.fd, events: Self.events(entry)))
    }
    // One that is closed would be found for ever.
    if ready.contains(where: { $0.events == CURL_CSELECT_ERR }) {
      entries.removeAll { Int32($0.revents) & POLLNVAL != 0 }
    }
  }

  fileprivate mutating func expectAgain() -> Bool {
    ready.removeAll { ready in
      ready.events != CURL_CSELECT_IN
        || !entries.contains { $0.fd == ready.socket && Int32($0.events) & POLLIN != 0 }
    }
    isHandedOut = false
    return !ready.isEmpty
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
