import Glibc
import LoopbackServer
import Testing

/// Clients that shut down their own side of the Unix socket.
@Suite(.timeLimit(.minutes(10))) struct HalfClosedTests {
  private let gate = Gate()

  /// Requests an image that waits at the gate, and shuts down the sending side.
  private func ask(_ service: ServiceRun, _ origin: LoopbackServer) async throws -> Int32 {
    let client = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: service.socket.utf8) }
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isConnected)
    let body = "{\"originalImage\":\"\(origin.url("/a.jpg"))\"}"
    let head = "POST /v1/image HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    let request = Array((head + body).utf8)
    #expect(write(client, request, request.count) == request.count)
    await origin.reaches { $0.count(of: "/a.jpg") == 1 }
    shutdown(client, Int32(SHUT_WR))
    // A response to a later request shows that the service has noticed.
    #expect(try service.curl("/healthz").status == 200)
    return client
  }

  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate] _ in
      let head = Reply.head(200, [("Content-Length", String(SampleImage.jpeg.count))])
      return Reply([.wait(gate), .send(head + SampleImage.jpeg)])
    }
  }

  @Test func `a client that shuts down only its sending side gets its response`() async throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let client = try await ask(service, origin)
    defer { close(client) }
    gate.open()
    var response: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while case let count = read(client, &bytes, bytes.count), count > 0 { response += bytes.prefix(count) }
    #expect(String(decoding: response.prefix(15), as: UTF8.self) == "HTTP/1.1 200 OK")
    #expect(Array(response.suffix(SampleImage.jpeg.count)) == SampleImage.jpeg)
  }

  @Test func `a client that then disconnects has left`() async throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    close(try await ask(service, origin))
    await origin.reaches { $0.closedByClient == 1 }
    #expect(try service.curl("/healthz").status == 200)
  }
}
