import CTestKernel
import Glibc
import Synchronization

/// A real HTTP/1.1 server on loopback, on a port of its own, with behaviour that a test defines.
///
/// Each connection has a thread. Nothing in it waits for time to pass: gates hold it back, and
/// ``reaches(_:)`` returns when its log has what a test waits for.
package final class LoopbackServer: Sendable {
  /// Where to listen.
  package enum Address: Sendable, Hashable {
    case ipv4
    case ipv6
    /// A Unix socket at an unused path. The port is then 0.
    case unix(String)
  }

  package let port: UInt16
  private let host: String
  private let journal = Journal()
  private let stopPipe: (read: Int32, write: Int32)
  private let threads = ThreadGroup()

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - address: IPv4 by default.
  ///   - greeting: Sent to every client that connects, before its first request.
  ///   - respond: Returns the reply to each request. Called on the threads of the connections.
  /// - Throws: ``LoopbackError``, such as on a machine without IPv6.
  package init(
    _ address: Address = .ipv4,
    greeting: [UInt8] = [],
    respond: @escaping @Sendable (Request) -> Reply
  ) throws(LoopbackError) {
    let (socket, port) = try Socket.bound(to: address)
    guard listen(socket, 128) == 0 else { throw LoopbackError("listen") }
    let stopPipe = Socket.pipe()
    self.port = port
    self.stopPipe = stopPipe
    host = address == .ipv4 ? "127.0.0.1" : "[::1]"
    let isStarted = threads.start { [journal, threads] in
      Self.accept(socket, stop: stopPipe.read) { client in
        _ = Socket.send(greeting, to: client, stop: stopPipe.read)
        let connection = Connection(client, stop: stopPipe.read, journal: journal, respond: respond)
        if !threads.start({ connection.serve() }) { close(client) }
      }
    }
    guard isStarted else { throw LoopbackError("pthread_create") }
  }

  deinit {
    stop()
    close(stopPipe.read)
    close(stopPipe.write)
  }

  /// The URL of a target, which begins with a slash.
  package func url(_ target: String) -> String { "http://\(host):\(port)\(target)" }

  /// The requests and connections so far.
  package var log: ServerLog { journal.log }

  /// Returns as soon as the log meets a condition.
  package func reaches(_ isMet: @escaping @Sendable (ServerLog) -> Bool) async {
    await journal.reaches(isMet)
  }

  /// Closes everything and returns when all threads have ended.
  ///
  /// May be called again.
  package func stop() {
    var byte: UInt8 = 1
    _ = write(stopPipe.write, &byte, 1)
    threads.joinAll()
  }

  private static func accept(_ socket: Int32, stop: Int32, serve: (Int32) -> Void) {
    defer { close(socket) }
    while Socket.wait(socket, for: POLLIN, stop: stop) != .stopped {
      let client = test_accept(socket)
      if client >= 0 { serve(client) }
    }
  }
}
