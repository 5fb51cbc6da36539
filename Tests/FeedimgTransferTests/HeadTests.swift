import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// HEAD requests, and responses that are delivered unchanged.
@Suite(.timeLimit(.minutes(10))) struct HeadTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test func `a HEAD response of any announced length has no body`() async throws {
    let server = try LoopbackServer { _ in
      Reply([.send(Reply.head(200, [("Content-Length", "99999999999")]))], keepsConnection: true)
    }
    var request = DownloadRequest(url: try ImageURL(server.url("/a")))
    request.method = .head
    let head = try await downloader.download(request, into: Collector())
    #expect((head.status, head.contentLength) == (200, 99_999_999_999))
    #expect(server.log.requests.map(\.method) == ["HEAD"])
    // The connection is still usable.
    request.bodyLimit = .mebibytes(1 << 20)
    _ = try await downloader.download(request, into: Collector())
    #expect(server.log.opened == 1)
  }

  @Test func `a redirect that is not followed is the response`() async throws {
    let server = try LoopbackServer { _ in .response(302, [("Location", "/b")], body: [1]) }
    var request = DownloadRequest(url: try ImageURL(server.url("/a")))
    request.followsRedirects = false
    let collector = Collector()
    let head = try await downloader.download(request, into: collector)
    #expect((head.status, head.fields["Location"]) == (302, "/b"))
    #expect(collector.bytes == [1])
    #expect(server.log.requests.count == 1)
  }
}
