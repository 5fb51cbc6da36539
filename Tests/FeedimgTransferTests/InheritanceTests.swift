import FeedimgModel
import FeedimgTransfer
import Glibc
import LoopbackServer
import Testing

/// Programs that the process starts during a transfer.
@Suite(.timeLimit(.minutes(10))) struct InheritanceTests {
  @Test func `a program started during a transfer does not inherit the connection`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate) }
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    let task = Task { await downloader.failure(request) }
    await server.reaches { $0.requests.count == 1 }
    let connections = (0..<4096).filter { Self.peer(of: $0) == server.port }
    #expect(connections.count == 1)
    #expect(connections.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    task.cancel()
    _ = await task.value
  }

  /// The port that a descriptor is connected to, if it is a connection.
  private static func peer(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
    }
    return result == 0 && address.sin_family == AF_INET ? UInt16(bigEndian: address.sin_port) : nil
  }
}
