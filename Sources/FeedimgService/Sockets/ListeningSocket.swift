import Glibc

/// A socket that accepts clients.
struct ListeningSocket: Sendable {
  /// The address of the socket.
  enum Place: Sendable, Hashable {
    case path(String)
    /// A port of 127.0.0.1 or ::1.
    case port(Int, isVersion6: Bool = false)

    /// The path or the URL.
    var text: String {
      switch self {
      case .path(let path): path
      case .port(let port, let isVersion6): "http://\(isVersion6 ? "[::1]" : "127.0.0.1"):\(port)"
      }
    }
  }

  /// Bound, listening, and closed on exec.
  let descriptor: Int32
  let place: Place

  /// The number of connections that may wait to be accepted.
  static let backlog: Int32 = 1024
}

extension ListeningSocket {
  /// Listens on a port of 127.0.0.1.
  ///
  /// - Parameter port: Zero for one that is free.
  /// - Returns: The socket with its port.
  /// - Throws: ``ServiceError`` where the port is taken.
  static func loopback(port: Int) throws(ServiceError) -> ListeningSocket {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ServiceError("cannot create a socket: \(SystemErrorText.of())") }
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isBound, listen(descriptor, backlog) == 0 else {
      let reason = SystemErrorText.of()
      close(descriptor)
      throw ServiceError("cannot listen on port \(port) of 127.0.0.1: \(reason)")
    }
    return ListeningSocket(descriptor: descriptor, place: try internetPlace(of: descriptor) ?? .port(port))
  }

  /// The address of a TCP socket; nil for another kind.
  ///
  /// - Throws: ``ServiceError`` where other machines may reach the socket.
  static func internetPlace(of descriptor: Int32) throws(ServiceError) -> Place? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isNamed = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isNamed, [AF_INET, AF_INET6].contains(Int32(address.sin6_family)) else { return nil }
    // The port has the same offset in both families.
    let port = Int(UInt16(bigEndian: address.sin6_port))
    let isVersion6 = Int32(address.sin6_family) == AF_INET6
    // The address of version 4 has the offset of the flow label of version 6.
    let host = isVersion6 ? text(AF_INET6, &address.sin6_addr) : text(AF_INET, &address.sin6_flowinfo)
    guard host == (isVersion6 ? "::1" : "127.0.0.1") else {
      throw ServiceError(
        "the service manager passed a socket on \(host) port \(port), which other machines can reach; "
          + "only 127.0.0.1 and ::1 are served"
      )
    }
    return .port(port, isVersion6: isVersion6)
  }

  private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard let text = inet_ntop(family, address, &buffer, socklen_t(buffer.count)) else { return "nowhere" }
    return String(cString: text)
  }
}
