import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// The fields that a server receives, and content codings.
@Suite(.timeLimit(.minutes(10)))
struct RequestFieldTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  /// `printf hello | gzip -n`.
  private static let gzippedHello: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00,
    0x86,
    0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
  ]

  private static func coded(_: Request) -> Reply {
    .response(
      200,
      [("Content-Encoding", "gzip"), ("ETag", "\"1\""), ("Accept-Ranges", "bytes")],
      body: gzippedHello
    )
  }

  @Test func `the request's fields are sent, beside feedimg's own`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let fields = [
      HTTPFields.Field(name: "Accept", value: "image/avif,image/*"),
      HTTPFields.Field(name: "X-Empty", value: ""),
      HTTPFields.Field(name: "If-None-Match", value: "\"ä\""),
    ]
    let request = DownloadRequest(url: try ImageURL(server.url("/")), fields: HTTPFields(fields))
    _ = try await downloader.download(request, into: Collector())
    let seen = try #require(server.log.requests.first)
    #expect(seen.method == "GET")
    #expect(seen["accept"] == "image/avif,image/*")
    #expect(seen["x-empty"]?.isEmpty == true)
    #expect(seen["if-none-match"] == "\"ä\"")
    #expect(seen["user-agent"] == "feedimg-tests/1")
    #expect(seen["accept-encoding"] == "identity")
    #expect(seen["referer"] == nil)
  }

  @Test func `a transfer sends no field of the one before it`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let plain = DownloadRequest(url: try ImageURL(server.url("/")))
    var named = plain
    named.url = try ImageURL(server.url("/").replacing("://", with: "://ann:secret@"))
    var conditional = plain
    conditional.fields = HTTPFields([HTTPFields.Field(name: "If-None-Match", value: "\"1\"")])
    var headOnly = plain
    headOnly.method = .head
    // One at a time, so that all of them use the same handle.
    for request in [named, plain, conditional, plain, headOnly, plain, plain] {
      _ = try await downloader.download(request, into: Collector())
    }
    let seen = server.log.requests
    #expect(seen.map(\.method) == ["GET", "GET", "GET", "GET", "HEAD", "GET", "GET"])
    #expect(seen.map { $0["authorization"] != nil } == [true] + Array(repeating: false, count: 6))
    #expect(seen.map { $0["if-none-match"] } == [nil, nil, "\"1\"", nil, nil, nil, nil])
    #expect(seen.allSatisfy { $0["accept-encoding"] == "identity" && $0["user-agent"] == "feedimg-tests/1" })
  }

  @Test func `a response without a body is reported as complete with its fields`() async throws {
    let server = try LoopbackServer { _ in .response(204) }
    var told = DownloadRequest(url: try ImageURL(server.url("/")))
    told.method = .post
    var plain = told
    plain.method = .get
    for request in [told, plain] {
      #expect(try await downloader.download(request, into: Collector()).status == 204)
    }
    let seen = server.log.requests
    #expect(seen.map(\.method) == ["POST", "GET"])
    #expect(seen.map { $0["content-length"] } == ["0", nil])
    #expect(seen.allSatisfy { $0["content-type"] == nil })
  }

  @Test(arguments: [("X-A", "1\r\nX-B: 2"), ("X A", "1"), ("", "1"), ("X-A:", "1"), ("X-A", "\u{0}")])
  func `a field that would inject others is not sent`(name: String, value: String) async throws {
    let server = try LoopbackServer { _ in .response() }
    let fields = HTTPFields([HTTPFields.Field(name: name, value: value)])
    let request = DownloadRequest(url: try ImageURL(server.url("/")), fields: fields)
    let error = await downloader.failure(request)
    #expect(error?.message == "the request field `\(name)` has an invalid name or value")
    #expect(server.log.requests.isEmpty)
  }

  @Test func `a content coding is decoded, and the head no longer mentions it`() async throws {
    let server = try LoopbackServer(respond: Self.coded)
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let head = try await downloader.download(request, into: collector)
    #expect(collector.bytes == Array("hello".utf8))
    #expect(head.contentLength == nil)
    #expect(head.fields["content-encoding"] == nil)
    #expect(head.fields["content-length"] == nil)
    #expect(head.fields["accept-ranges"] == "none")
    #expect(head.fields["etag"] == "W/\"1\"")
  }

  @Test func `a caller that requests a coding gets the encoded bytes`() async throws {
    let server = try LoopbackServer(respond: Self.coded)
    let collector = Collector()
    let fields = HTTPFields([HTTPFields.Field(name: "accept-encoding", value: "gzip")])
    let request = DownloadRequest(url: try ImageURL(server.url("/")), fields: fields)
    let head = try await downloader.download(request, into: collector)
    #expect(server.log.requests.first?["accept-encoding"] == "gzip")
    #expect(collector.bytes == Self.gzippedHello)
    #expect(head.contentLength == Self.gzippedHello.count)
    #expect(head.fields["etag"] == "\"1\"")
  }

  @Test func `the limit counts the decoded bytes`() async throws {
    let server = try LoopbackServer(respond: Self.coded)
    let request = DownloadRequest(url: try ImageURL(server.url("/")), bodyLimit: ByteCount(4))
    let error = await downloader.failure(request)
    #expect(error?.code == .tooLarge)
  }

  /// At the second length, only the end of the body shows how long the encoded body is.
  @Test(arguments: [(40_000_000, true), (2_000_000, true), (900_000, false)])
  func `a body that expands too much is stopped`(count: Int, isStopped: Bool) async throws {
    let server = try LoopbackServer { _ in
      .response(200, [("Content-Encoding", "gzip")], body: Gzip.zeros(count))
    }
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/")), bodyLimit: .mebibytes(1000))
    let error = await downloader.failure(request, into: collector)
    #expect(collector.bytes.count <= 30_000_000)
    guard isStopped else {
      #expect(error == nil && collector.bytes.count >= count)
      return
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.message == "the decoded body is more than 100 times as long as the encoded body")
  }
}
