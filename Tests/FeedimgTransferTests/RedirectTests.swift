import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RedirectTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is followed without notice to the receiver`(status: Int) async throws {
    let server = try LoopbackServer { request in
      request.path == "/old/a" ? .redirect(to: "../new?x", status) : .response(body: [7])
    }
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/old/a")))
    let head = try await downloader.download(request, into: collector)
    #expect(head.status == 200)
    #expect(head.url.text == server.url("/new?x"))
    #expect(collector.heads == [head])
    #expect(collector.bytes == [7])
    #expect(server.log.opened == 1)
  }

  @Test(arguments: [300, 304, 305, 306, 201])
  func `other statuses with a Location are responses`(status: Int) async throws {
    let server = try LoopbackServer { _ in .response(status, [("Location", "/new")]) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let head = try await downloader.download(request, into: Collector())
    #expect(head.status == status)
    #expect(server.log.requests.count == 1)
  }

  @Test func `a redirect without a Location is a response`() async throws {
    let server = try LoopbackServer { _ in .response(302, body: [1]) }
    let collector = Collector()
    let head = try await downloader.download(
      DownloadRequest(url: try ImageURL(server.url("/"))),
      into: collector
    )
    #expect(head.status == 302)
    #expect(collector.bytes == [1])
  }

  @Test(arguments: [Reply.response(302, [("Location", "/b")], body: pattern(1_000_000)), endlessRedirect])
  func `the transfer does not wait for the body of a redirect if it is long`(reply: Reply) async throws {
    let server = try LoopbackServer { $0.path == "/a" ? reply : .response(body: [7]) }
    let collector = Collector()
    // The limit applies to the image.
    let request = DownloadRequest(url: try ImageURL(server.url("/a")), bodyLimit: ByteCount(1))
    _ = try await downloader.download(request, into: collector)
    #expect(collector.bytes == [7])
  }

  private static let endlessRedirect = Reply([
    .send(Reply.head(302, [("Location", "/b"), ("Connection", "close")])),
    .sendForever(Array(repeating: 0x20, count: 4096)),
  ])

  @Test func `a redirect loop ends the transfer`() async throws {
    let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .redirect(to: "/a") }
    let error = await downloader.failure(DownloadRequest(url: try ImageURL(server.url("/a"))))
    #expect(error?.code == .tooManyRedirects)
    #expect(error?.message == "the redirects form a loop, back to `\(server.url("/a"))`")
    #expect(error?.url?.text == server.url("/a"))
    #expect(server.log.requests.count == 2)
  }

  @Test func `an endless chain of redirects ends at the limit`() async throws {
    let server = try LoopbackServer { .redirect(to: $0.path + "a") }
    let request = DownloadRequest(url: try ImageURL(server.url("/a")), redirectLimit: 3)
    let error = await downloader.failure(request)
    #expect(error?.code == .tooManyRedirects)
    #expect(server.log.requests.count == 4)
  }

  @Test func `no redirect is followed if none is allowed`() async throws {
    let server = try LoopbackServer { _ in .redirect(to: "/b") }
    let request = DownloadRequest(url: try ImageURL(server.url("/a")), redirectLimit: 0)
    #expect(await downloader.failure(request)?.code == .tooManyRedirects)
    #expect(server.log.requests.count == 1)
  }

  @Test(arguments: ["Authorization", "cookie", "Proxy-Authorization"])
  func `credentials are sent only to the origin that they are meant for`(name: String) async throws {
    let other = try LoopbackServer { _ in .response() }
    let otherURL = other.url("/there")
    let home = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .redirect(to: otherURL) }
    let fields = [
      HTTPFields.Field(name: name, value: "secret"), HTTPFields.Field(name: "Accept", value: "image/*"),
    ]
    let request = DownloadRequest(url: try ImageURL(home.url("/a")), fields: HTTPFields(fields))
    _ = try await downloader.download(request, into: Collector())
    #expect(home.log.requests.map { $0[name] } == ["secret", "secret"])
    #expect(other.log.requests.map { $0[name] } == [nil])
    #expect(other.log.requests.map { $0["accept"] } == ["image/*"])
  }

  @Test func `user and password of a URL are sent only to its origin`() async throws {
    let other = try LoopbackServer { _ in .response() }
    let otherURL = other.url("/there")
    let home = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .redirect(to: otherURL) }
    let url = try ImageURL("http://user:word@127.0.0.1:\(home.port)/a")
    _ = try await downloader.download(DownloadRequest(url: url), into: Collector())
    let basic = "Basic dXNlcjp3b3Jk"
    #expect(home.log.requests.map { $0["authorization"] } == [basic, basic])
    #expect(other.log.requests.map { $0["authorization"] } == [nil])
  }
}
