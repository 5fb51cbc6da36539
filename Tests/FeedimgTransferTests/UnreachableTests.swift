import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// Servers that are missing or behave wrongly.
@Suite(.timeLimit(.minutes(10)))
struct UnreachableTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test func `a port without a listener`() async throws {
    let closed = try ClosedPort()
    let request = DownloadRequest(url: try ImageURL("http://127.0.0.1:\(closed.port)/"))
    let error = await downloader.failure(request)
    #expect(error?.code == .connection)
    #expect(error?.message == "no connection to 127.0.0.1 port \(closed.port): connection refused")
  }

  // This domain never exists (RFC 6761 §6.4). Names with other letters are looked up too.
  @Test(arguments: ["no-such-host.invalid", "bücher.invalid"])
  func `a host that does not exist`(host: String) async throws {
    // A silent name server is given up later than users would wait.
    let request = DownloadRequest(url: try ImageURL("http://\(host)/"), connectTimeout: .seconds(600))
    let error = await downloader.failure(request)
    #expect(error?.code == .unknownHost)
    #expect(error?.message == "the host `\(host)` could not be found")
  }

  @Test func `a redirect to a port without a listener names that port`() async throws {
    let closed = try ClosedPort()
    let server = try LoopbackServer { _ in .redirect(to: "http://127.0.0.1:\(closed.port)/") }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let error = await downloader.failure(request)
    #expect(error?.message == "no connection to 127.0.0.1 port \(closed.port): connection refused")
    #expect(error?.url == request.url)
  }

  @Test func `a body that is interrupted`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .reset(pattern(250), after: 100, when: gate) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let error = await downloader.failure(request, into: GateOpener(gate))
    #expect(error?.code == .connection)
    #expect(error?.message == "the connection failed after 100 of 250 bytes: connection reset by peer")
  }
}

/// Opens a gate as soon as bytes of a body come.
private struct GateOpener: BodyReceiving {
  let gate: Gate

  init(_ gate: Gate) { self.gate = gate }

  func begin(_ head: ResponseHead) {}
  func receive(_ bytes: UnsafeRawBufferPointer) { gate.open() }
}
