import CTestKernel
import Glibc
import Synchronization

/// A proxy to a loopback server, on a port of its own, that can stall its connections.
///
/// Stalled connections stay open without notice, as when a router has lost its state.
package final class StallingProxy: Sendable {
  /// The connections, which the threads of the proxy and tests share.
  private final class Register: Sendable {
    let lines = Mutex<[ProxiedLine]>([])
    let closedByClient = Atomic(0)
  }

  package let port: UInt16
  private let register = Register()
  private let gate = Gate()
  private let stopPipe: (read: Int32, write: Int32)
  private let threads = ThreadGroup()

  /// - Parameter target: The port of the server.
  /// - Throws: ``LoopbackError`` if a socket or a thread cannot be created.
  package init(to target: UInt16) throws(LoopbackError) {
    let (socket, port) = try Socket.bound(to: .ipv4)
    guard listen(socket, 128) == 0 else { throw LoopbackError("listen") }
    let stop = Socket.pipe()
    (self.port, stopPipe) = (port, stop)
    let isStarted = threads.start { [register, gate, threads] in
      defer { close(socket) }
      while Socket.wait(socket, for: POLLIN, stop: stop.read) != .stopped {
        let client = test_accept(socket)
        guard client >= 0 else { continue }
        guard let server = try? Socket.connecting(toPort: target) else {
          close(client)
          continue
        }
        let line = ProxiedLine(client: client, server: server, stop: stop.read, gate: gate)
        register.lines.withLock { $0.append(line) }
        let isServed = threads.start {
          if line.serve() { register.closedByClient.add(1, ordering: .sequentiallyConsistent) }
        }
        if !isServed { line.end() }
      }
    }
    guard isStarted else { throw LoopbackError("pthread_create") }
  }

  deinit {
    var byte: UInt8 = 1
    _ = write(stopPipe.write, &byte, 1)
    threads.joinAll()
    close(stopPipe.read)
    close(stopPipe.write)
  }

  /// The number of connections made.
  package var opened: Int { register.lines.withLock { $0.count } }
  /// The number of connections that the client has closed.
  package var closedByClient: Int { register.closedByClient.load(ordering: .sequentiallyConsistent) }

  /// Lets this many bytes more come from the server on each current connection, and then none until
  /// ``release()``.
  package func hold(after count: Int = 0) {
    for line in register.lines.withLock({ $0 }) { line.hold(after: count) }
  }

  /// Releases all held bytes for good.
  package func release() { gate.open() }
}

/// A connection, its other half, and the forwarding between them.
private final class ProxiedLine: Sendable {
  private let client: Int32
  private let server: Int32
  private let stop: Int32
  private let gate: Gate
  /// The bytes that may still come from the server.
  ///
  /// Nil means no limit.
  private let allowance = Mutex<Int?>(nil)

  init(client: Int32, server: Int32, stop: Int32, gate: Gate) {
    (self.client, self.server, self.stop, self.gate) = (client, server, stop, gate)
    Socket.prepareAccepted(client)
    Socket.prepareAccepted(server)
  }

  func hold(after count: Int) { allowance.withLock { $0 = count } }

  func end() {
    close(client)
    close(server)
  }

  /// Forwards bytes until either side closes.
  ///
  /// - Returns: Whether it was the client.
  func serve() -> Bool {
    defer { end() }
    while true {
      let isHeld = allowance.withLock { $0 == 0 }
      var sources = [stop, client, isHeld ? gate.descriptor : server].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&sources, nfds_t(sources.count), -1) > 0 else { continue }
      if sources[0].revents != 0 { return false }
      if sources[1].revents != 0, forward(from: client, to: server) == nil { return true }
      guard sources[2].revents != 0 else { continue }
      if isHeld {
        allowance.withLock { $0 = nil }
      } else if !forwardResponse() {
        return false
      }
    }
  }

  /// It may have been held since the wait began.
  private func forwardResponse() -> Bool {
    let left = allowance.withLock { $0 }
    guard left != 0 else { return true }
    guard let count = forward(from: server, to: client, atMost: left) else { return false }
    allowance.withLock { $0 = $0.map { max(0, $0 - count) } }
    return true
  }

  /// - Returns: The number of bytes. Nil if either side has closed.
  private func forward(from source: Int32, to target: Int32, atMost limit: Int? = nil) -> Int? {
    guard let bytes = Socket.receive(from: source, stop: stop, atMost: limit ?? .max).bytes,
      Socket.send(bytes, to: target, stop: stop) == .ready
    else { return nil }
    return bytes.count
  }
}
