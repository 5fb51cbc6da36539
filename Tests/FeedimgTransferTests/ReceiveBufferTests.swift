import Glibc
import Testing

@testable import FeedimgTransfer

/// How much the kernel keeps of what is not read yet.
struct ReceiveBufferTests {
  /// What the kernel is asked of a socket; SO_BUF_LOCK is left out by the importer (asm-generic/socket.h).
  private static let bufferLock: Int32 = 72

  private func option(_ name: Int32, of socket: Int32) throws -> Int32 {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    try #require(getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0)
    return value
  }

  @Test func `a connection has room for several images, and Linux goes on to adapt it`() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let before = try option(SO_RCVBUF, of: descriptor)
    ReceiveBuffer.widen(descriptor)
    #expect(try option(SO_RCVBUF, of: descriptor) > max(before, ReceiveBuffer.room))
    #expect(try option(SO_RCVLOWAT, of: descriptor) == 1)
    #expect(try option(Self.bufferLock, of: descriptor) == 0)
  }
}
