import Glibc

/// A port of loopback that nobody listens to, and that stays so: connections are refused.
package final class ClosedPort: Sendable {
  package let port: UInt16
  private let socket: Int32

  package init() throws(LoopbackError) { (socket, port) = try Socket.bound(to: .ipv4) }

  deinit { close(socket) }
}
