import Glibc

/// Tries whether there is a way to the internet, where the kernel may not be asked.
enum TrialRoute {
  /// Whether a datagram could be sent to the internet; none is.
  ///
  /// Connecting a datagram socket makes the kernel look up the route, and does nothing else.
  static func isThere() -> Bool {
    AddressFamily.allCases.contains { family in family.probes.contains(where: canConnect) }
  }

  private static func canConnect(to address: IPAddress) -> Bool {
    let handle = socket(
      Int32(address.family.number),
      Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
      0
    )
    guard handle >= 0 else { return false }
    defer { close(handle) }
    let port = in_port_t(53).bigEndian
    switch address {
    case .v4(let value):
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port
      name.sin_addr.s_addr = value.bigEndian
      return connect(handle, to: &name)
    case .v6:
      var name = sockaddr_in6()
      name.sin6_family = sa_family_t(AF_INET6)
      name.sin6_port = port
      address.withBytes { bytes in withUnsafeMutableBytes(of: &name.sin6_addr) { $0.copyMemory(from: bytes) }
      }
      return connect(handle, to: &name)
    }
  }

  private static func connect<Name>(_ handle: Int32, to name: inout Name) -> Bool {
    withUnsafeBytes(of: &name) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        Glibc.connect(handle, $0.baseAddress, socklen_t(bytes.count)) == 0
      }
    }
  }
}
