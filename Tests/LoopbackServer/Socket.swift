import CTestKernel
import Glibc

/// The system calls of a server.
///
/// Every wait can be ended.
enum Socket {
  /// Why a wait ended.
  enum Event {
    case ready
    /// The other side closed or reset the connection.
    case closed
    /// The server stops.
    case stopped
    case timedOut
  }

  /// A pipe whose ends do not block.
  static func pipe() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    // Without descriptors, no test can continue.
    precondition(test_pipe(&ends) == 0, LoopbackError("pipe").description)
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    return (ends[0], ends[1])
  }

  /// A socket bound to a free port of loopback, with that port.
  static func bound(to address: LoopbackServer.Address) throws(LoopbackError) -> (Int32, port: UInt16) {
    let family =
      switch address {
      case .ipv4: AF_INET
      case .ipv6: AF_INET6
      case .unix: AF_UNIX
      }
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw LoopbackError("socket") }
    do throws(LoopbackError) {
      switch address {
      case .ipv4:
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return (descriptor, try bind(descriptor, to: &name, port: \.sin_port))
      case .ipv6:
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        name.sin6_addr = in6addr_loopback
        return (descriptor, try bind(descriptor, to: &name, port: \.sin6_port))
      case .unix(let path):
        try bind(descriptor, toPath: path)
        return (descriptor, port: 0)
      }
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// A socket that begins to connect to a port of 127.0.0.1.
  static func connecting(toPort port: UInt16) throws(LoopbackError) -> Int32 {
    let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(AF_INET, Int32(flags), 0)
    guard descriptor >= 0 else { throw LoopbackError("socket") }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    name.sin_port = port.bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeBytes(of: &name) { bytes in
      _ = connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
    }
    return descriptor
  }

  private static func bind<Name>(
    _ descriptor: Int32,
    to name: inout Name,
    port: KeyPath<Name, in_port_t>
  ) throws(LoopbackError) -> UInt16 {
    var length = socklen_t(MemoryLayout<Name>.size)
    let status = withUnsafeMutableBytes(of: &name) { bytes -> Int32 in
      guard let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
      guard Glibc.bind(descriptor, address, length) == 0 else { return -1 }
      return getsockname(descriptor, address, &length)
    }
    guard status == 0 else { throw LoopbackError("bind") }
    return UInt16(bigEndian: name[keyPath: port])
  }

  private static func bind(_ descriptor: Int32, toPath path: String) throws(LoopbackError) {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    // The path ends with a zero.
    guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else { throw LoopbackError("bind") }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafeBytes(of: &name) { bytes in
      Glibc.bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
    }
    guard status == 0 else { throw LoopbackError("bind") }
  }

  /// Waits for `events` of a socket, until the server stops.
  ///
  /// - Parameters:
  ///   - socket: The socket of a client, or the listening one.
  ///   - events: As for `poll`.
  ///   - stop: Becomes readable when the server stops. Takes precedence.
  ///   - gate: If given, ends the wait as `ready` in place of the socket. The socket can then only end it as
  ///     `closed`.
  ///   - milliseconds: The longest wait. -1 means no limit.
  /// - Returns: Why the wait ended.
  static func wait(
    _ socket: Int32,
    for events: Int32,
    stop: Int32,
    gate: Int32? = nil,
    milliseconds: Int32 = -1
  ) -> Event {
    // A half-closed connection counts as closed: no client here closes its side before it has read
    // everything.
    let watched = gate == nil ? events : Int32(Self.closedByPeer)
    var descriptors = [
      pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(watched), revents: 0),
      pollfd(fd: gate ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
      if count < 0 && errno == EINTR { continue }
      if descriptors[0].revents != 0 { return .stopped }
      if descriptors[2].revents != 0 { return .ready }
      let closed = Int16(POLLERR) | Int16(POLLHUP) | Self.closedByPeer
      if gate != nil && descriptors[1].revents & closed != 0 { return .closed }
      if count == 0 { return .timedOut }
      return .ready
    }
  }

  /// POLLRDHUP, a GNU extension that Swift does not see (`<bits/poll.h>`).
  private static let closedByPeer: Int16 = 0x2000

  /// Sends everything.
  static func send(_ bytes: [UInt8], to socket: Int32, stop: Int32) -> Event {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress?.advanced(by: sent), $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        if wait(socket, for: POLLOUT, stop: stop) == .stopped { return .stopped }
      } else if errno != EINTR {
        return .closed
      }
    }
    return .ready
  }

  /// Waits for bytes and receives them.
  ///
  /// Nil at the end or when the server stops.
  static func receive(
    from socket: Int32,
    stop: Int32,
    atMost limit: Int = .max
  ) -> (bytes: [UInt8]?, event: Event) {
    var buffer = [UInt8](repeating: 0, count: min(limit, 16 << 10))
    while true {
      if wait(socket, for: POLLIN, stop: stop) == .stopped { return (nil, .stopped) }
      let count = recv(socket, &buffer, buffer.count, 0)
      if count > 0 { return (Array(buffer[..<count]), .ready) }
      if count < 0 && (errno == EAGAIN || errno == EINTR) { continue }
      return (nil, .closed)
    }
  }

  /// Makes closing the socket send a reset.
  static func resetOnClose(_ socket: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Sends small pieces at once.
  static func prepareAccepted(_ socket: Int32) {
    var yes: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }
}
