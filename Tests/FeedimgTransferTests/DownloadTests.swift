import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DownloadTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test(arguments: [0, 1, 250, 20_000, 3_000_000])
  func `a body arrives whole whatever its size`(size: Int) async throws {
    let server = try LoopbackServer { _ in .answer(200, [("Content-Type", "image/png")], body: pattern(size))
    }
    let collector = Collector()
    let url = try ImageURL(server.url("/a.png"))
    let head = try await downloader.download(DownloadRequest(url: url), into: collector)
    #expect(head.status == 200)
    #expect(head.url == url)
    #expect(head.contentLength == size)
    #expect(head.fields["content-type"] == "image/png")
    #expect(!head.endsByClosing)
    #expect(collector.heads == [head])
    #expect(collector.bytes == pattern(size))
  }
}
