import Glibc

/// A loopback port with a full queue, so that connections to it never complete.
package final class UnresponsivePort: Sendable {
  package let port: UInt16
  private let sockets: [Int32]

  package init() throws(LoopbackError) {
    let (listener, port) = try Socket.bound(to: .ipv4)
    guard listen(listener, 0) == 0 else { throw LoopbackError("listen") }
    // Linux queues one connection more than the backlog, and ignores further ones (man 2 listen, tcp(7)).
    var waiting: [Int32] = []
    for _ in 0..<3 { waiting.append(try Socket.connecting(toPort: port)) }
    self.port = port
    sockets = [listener] + waiting
  }

  deinit {
    for socket in sockets { close(socket) }
  }
}
