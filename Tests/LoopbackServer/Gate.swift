import Glibc

/// Holds a server thread back until a test opens it.
///
/// Stays open.
package final class Gate: Sendable {
  private let readEnd: Int32
  private let writeEnd: Int32

  package init() {
    let ends = Socket.pipe()
    readEnd = ends.read
    writeEnd = ends.write
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Releases all current and later waits.
  ///
  /// May be called again.
  package func open() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Holds the calling thread back.
  package func wait() {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&ready, 1, -1) < 0 {}
  }

  /// Becomes readable when the gate opens, and stays so.
  var descriptor: Int32 { readEnd }
}
