import CCurl
import FeedimgSystem
import Glibc
import Synchronization
import Testing

@testable import FeedimgTransfer

/// The bytes that libcurl holds; C functions capture nothing.
private let held = Mutex(Array("held".utf8)[...])

@Suite(.timeLimit(.minutes(1))) struct CurlConnectionTests {
  /// A handle whose socket never becomes readable, with bytes that libcurl holds.
  private static func makeHandle() throws -> CurlHandle? {
    let library = try CurlLibrary.open()
    // Receives a byte at a time, then the end of the connection. Each library has a table of its own.
    UnsafeMutablePointer(mutating: library.table).pointee.easy_recv = { _, buffer, _, count in
      let byte = held.withLock { $0.popFirst() }
      if let byte { buffer?.storeBytes(of: byte, as: UInt8.self) }
      count?.pointee = byte == nil ? 0 : 1
      return CURLE_OK
    }
    return CurlHandle(library, identity: CurlHandle.Identity(userAgent: "test"))
  }

  @Test func `bytes that libcurl holds are forwarded without a wait for the socket`() async {
    var ends: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    let (local, client) = (ends[0], ends[1])
    let (end, continuation) = AsyncStream.makeStream(of: Void.self)
    let isStarted = SystemThread.start("test-pump") {
      if let handle = try? Self.makeHandle() {
        var pump = CurlConnection.Pump(handle: handle, local: local)
        pump.run()
      }
      continuation.finish()
    }
    #expect(isStarted)
    for await _ in end {}
    var bytes = [UInt8](repeating: 0, count: 8)
    let count = recv(client, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    #expect(bytes.prefix(max(0, count)) == Array("held".utf8)[...])
    for end in ends { close(end) }
  }
}
