import Glibc

/// A port of loopback whose queue is full, so that nothing ever comes of a connection to it.
package final class DeafPort: Sendable {
  package let port: UInt16
  private let sockets: [Int32]

  package init() throws(LoopbackError) {
    let (listener, port) = try Socket.bound(to: .ipv4)
    guard listen(listener, 0) == 0 else { throw LoopbackError("listen") }
    // Linux queues one connection more than asked for, and answers no further one (man 2 listen, tcp(7)).
    var waiting: [Int32] = []
    for _ in 0..<3 { waiting.append(try Socket.connecting(toPort: port)) }
    self.port = port
    sockets = [listener] + waiting
  }

  deinit {
    for socket in sockets { close(socket) }
  }
}
