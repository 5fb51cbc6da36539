import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// The received bytes of correct responses.
@Suite(.timeLimit(.minutes(10)))
struct DownloadTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test(arguments: [0, 1, 250, 20_000, 3_000_000])
  func `a body of any size arrives whole`(size: Int) async throws {
    let body = pattern(size)
    let server = try LoopbackServer { _ in .response(200, [("Content-Type", "image/png")], body: body) }
    let collector = Collector()
    let url = try ImageURL(server.url("/a.png"))
    #expect(downloader.lastPeer == nil)
    let head = try await downloader.download(DownloadRequest(url: url), into: collector)
    #expect(downloader.lastPeer == "127.0.0.1")
    #expect(head.status == 200)
    #expect(head.url == url)
    #expect(head.contentLength == size)
    #expect(head.fields["content-type"] == "image/png")
    #expect(!head.endsByClosing)
    #expect(collector.heads == [head])
    #expect(collector.bytes == body)
  }

  /// A framing of a body, and the length that its head gives.
  struct Framing: Sendable, CustomTestStringConvertible {
    var name: String
    var reply: Reply
    var length: Int?
    var endsByClosing = false
    var testDescription: String { name }
  }

  private static let body = pattern(20_000)
  static let framings = [
    Framing(name: "a length", reply: .response(body: body), length: 20_000),
    Framing(name: "chunks", reply: .chunked(body: body, size: 777)),
    Framing(name: "the closing", reply: .closing(body: body), endsByClosing: true),
    Framing(
      name: "chunks with trailers",
      reply: .chunked(body: body, size: 777, trailers: [("X-Checksum", "1"), ("Location", "/other")])
    ),
    Framing(name: "drips", reply: .drip(Array(body.prefix(50)), every: 0), length: 50),
  ]

  @Test(arguments: framings)
  func `the end of a body may be marked in any way`(framing: Framing) async throws {
    let server = try LoopbackServer { _ in framing.reply }
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let head = try await downloader.download(request, into: collector)
    #expect(collector.bytes == Array(Self.body.prefix(framing.length ?? 20_000)))
    #expect(head.contentLength == framing.length)
    #expect(head.endsByClosing == framing.endsByClosing)
    #expect(head.fields["x-checksum"] == nil)
    #expect(collector.heads == [head])
  }

  @Test(arguments: [204, 304, 400, 404, 416, 500, 503])
  func `any status reaches the receiver`(status: Int) async throws {
    let server = try LoopbackServer { _ in .response(status, [("Retry-After", "7")]) }
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let head = try await downloader.download(request, into: collector)
    #expect(head.status == status)
    #expect(head.fields["retry-after"] == "7")
    #expect(collector.heads == [head])
  }

  @Test func `interim responses are not visible`() async throws {
    let hints = Array("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".utf8)
    let server = try LoopbackServer { _ in
      Reply([.send(hints)] + Reply.response(body: [1]).steps, keepsConnection: true)
    }
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let head = try await downloader.download(request, into: collector)
    #expect(head.status == 200)
    #expect(head.fields["link"] == nil)
    #expect(collector.heads == [head])
  }

  @Test(arguments: [
    ("/a%20b%2Fc.png", "/a%20b%2Fc.png"), ("/ä/日本.png?q=ö", "/%C3%A4/%E6%97%A5%E6%9C%AC.png?q=%C3%B6"),
    ("/a.png?x=1&y=%26#part", "/a.png?x=1&y=%26"), ("/a/../b.png", "/b.png"), ("?q", "/?q"), ("", "/"),
  ])
  func `a URL is sent as servers expect it`(target: String, expected: String) async throws {
    let server = try LoopbackServer { _ in .response() }
    let url = try ImageURL(server.url(target))
    let head = try await downloader.download(DownloadRequest(url: url), into: Collector())
    #expect(server.log.requests.map(\.target) == [expected])
    #expect(head.url == url)
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(1_000_000_000)])
  func `very long time limits work`(timeout: Duration) async throws {
    let server = try LoopbackServer { _ in .response(body: [1]) }
    let request = DownloadRequest(
      url: try ImageURL(server.url("/")),
      connectTimeout: timeout,
      responseTimeout: timeout,
      stallTimeout: timeout,
      totalTimeout: timeout
    )
    #expect(try await downloader.download(request, into: Collector()).status == 200)
  }

  @Test func `loopback names lead to this machine`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let url = try ImageURL("http://localhost:\(server.port)/")
    let head = try await downloader.download(DownloadRequest(url: url), into: Collector())
    #expect(head.status == 200)
    #expect(server.log.requests.first?["host"] == "localhost:\(server.port)")
  }

  @Test(.enabled(if: hasIPv6, "this machine has no IPv6 loopback"))
  func `a bracketed address is IPv6`() async throws {
    let server = try LoopbackServer(.ipv6) { _ in .response(body: [1, 2, 3]) }
    let collector = Collector()
    _ = try await downloader.download(
      DownloadRequest(url: try ImageURL(server.url("/"))),
      into: collector
    )
    #expect(collector.bytes == [1, 2, 3])
  }

  private static let hasIPv6 = (try? LoopbackServer(.ipv6) { _ in .response() }) != nil
}
