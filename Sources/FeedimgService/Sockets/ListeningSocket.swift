import Glibc

/// A socket on which clients are waited for, and who may come by it.
struct ListeningSocket: Sendable {
  /// Where clients reach it.
  enum Place: Sendable, Hashable {
    case path(String)
    /// On 127.0.0.1.
    case port(Int)

    /// As a person writes it.
    var text: String {
      switch self {
      case .path(let path): path
      case .port(let port): "http://127.0.0.1:\(port)"
      }
    }
  }

  /// Bound and listening, does not wait, and is not passed on to children.
  let descriptor: Int32
  let place: Place

  /// How many clients may wait to be let in.
  static let backlog: Int32 = 1024
}

extension ListeningSocket {
  /// Listens on a port of 127.0.0.1.
  ///
  /// - Parameter port: Zero for one that is free.
  /// - Returns: The socket, with the port that it got.
  /// - Throws: ``ServiceError`` where the port is taken.
  static func loopback(port: Int) throws(ServiceError) -> ListeningSocket {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ServiceError("no socket: \(SystemFault.text())") }
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
      let reason = SystemFault.text()
      close(descriptor)
      throw ServiceError("cannot listen on port \(port) of 127.0.0.1: \(reason)")
    }
    return ListeningSocket(descriptor: descriptor, place: .port(self.port(of: descriptor) ?? port))
  }

  /// The port that a socket of the internet is bound to; nil for another kind.
  static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isNamed = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isNamed, [AF_INET, AF_INET6].contains(Int32(address.sin_family)) else { return nil }
    // Where the port lies is the same in both families.
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
