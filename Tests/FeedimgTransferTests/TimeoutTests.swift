import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// Time limits.
///
/// Only the tested one is short.
@Suite(.timeLimit(.minutes(10)))
struct TimeoutTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
  private let gate = Gate()

  @Test func `a connection that is not established`() async throws {
    let deaf = try UnresponsivePort()
    let request = DownloadRequest(
      url: try ImageURL("http://127.0.0.1:\(deaf.port)/"),
      connectTimeout: .milliseconds(50)
    )
    let error = await downloader.failure(request)
    #expect(error?.code == .timeout)
    #expect(error?.message == "no connection to the host `127.0.0.1` within 50 ms")
  }

  @Test func `a handshake that does not end`() async throws {
    // The server takes the handshake for a request and waits for its end.
    let server = try LoopbackServer { _ in .response() }
    let request = DownloadRequest(
      url: try ImageURL("https://127.0.0.1:\(server.port)/"),
      // Enough for the connection itself on a busy machine.
      connectTimeout: .seconds(1)
    )
    let error = await downloader.failure(request)
    #expect(error?.code == .timeout)
    #expect(error?.message == "the TLS handshake with the host `127.0.0.1` did not end within 1 s")
  }

  @Test func `a response that does not come`() async throws {
    let server = try LoopbackServer { [gate] _ in .held(by: gate) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")), responseTimeout: .milliseconds(50))
    let error = await downloader.failure(request)
    #expect(error?.code == .timeout)
    #expect(error?.message == "no response within 50 ms")
    await server.reaches { $0.closedByClient == 1 }
  }

  @Test func `a body that stops arriving`() async throws {
    let server = try LoopbackServer { [gate] _ in .stalled(pattern(250), after: 100, until: gate) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")), stallTimeout: .milliseconds(50))
    let error = await downloader.failure(request)
    #expect(error?.code == .timeout)
    #expect(error?.message == "no data for 50 ms after 100 of 250 bytes")
    await server.reaches { $0.closedByClient == 1 }
  }

  @Test func `a head that stops arriving`() async throws {
    let start = Array("HTTP/1.1 200 OK\r\nContent-".utf8)
    let server = try LoopbackServer { [gate] _ in Reply([.send(start), .wait(gate)]) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")), stallTimeout: .milliseconds(50))
    let error = await downloader.failure(request)
    #expect(error?.code == .timeout)
    #expect(error?.message == "no data for 50 ms before the response header ended")
  }

  @Test func `a transfer that takes too long although bytes arrive`() async throws {
    let server = try LoopbackServer { _ in .drip(pattern(10_000), every: 5) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")), totalTimeout: .milliseconds(100))
    let error = await downloader.failure(request)
    #expect(error?.code == .timeout)
    #expect(error?.message.hasPrefix("the transfer took longer than 100 ms, after ") == true)
  }

  @Test func `the limit for the whole transfer includes redirects`() async throws {
    let server = try LoopbackServer { [gate] in $0.path == "/a" ? .redirect(to: "/b") : .held(by: gate) }
    let request = DownloadRequest(url: try ImageURL(server.url("/a")), totalTimeout: .milliseconds(100))
    let error = await downloader.failure(request)
    #expect(error?.message.hasPrefix("the transfer took longer than 100 ms") == true)
  }
}
