import Glibc

/// A loopback port without a listener: every connection is refused, for the lifetime of the value.
package final class ClosedPort: Sendable {
  package let port: UInt16
  private let socket: Int32

  package init() throws(LoopbackError) { (socket, port) = try Socket.bound(to: .ipv4) }

  deinit { close(socket) }
}
