import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// Server failures of all kinds, and the message for each.
@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
  private static let body = pattern(250)

  /// A way to fail, the code and the message.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var reply: Reply
    var code: LoadError.Code
    var message: String
    var testDescription: String { name }

    init(_ name: String, _ reply: Reply, _ code: LoadError.Code, _ message: String) {
      (self.name, self.reply, self.code, self.message) = (name, reply, code, message)
    }
  }

  static let rows: [Row] = [
    Row("a short body", .truncated(body, after: 100), .truncated, "the body ended after 100 of 250 bytes"),
    Row("an empty body", .truncated(body, after: 0), .truncated, "the body ended after 0 of 250 bytes"),
    Row("no last chunk", .truncatedChunks(body), .truncated, "the body ended after 250 bytes"),
    Row(
      "no response",
      .hangUp,
      .connection,
      "the server closed the connection without a response"
    ),
    Row(
      "a reset",
      .resetAtOnce,
      .connection,
      "the server closed the connection without a response: connection reset by peer"
    ),
    Row(
      "half a head",
      .raw("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"),
      .connection,
      "the connection closed before the response header ended"
    ),
    Row("no HTTP", .raw("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), .malformed, "the response is not HTTP"),
    Row(
      "a field without a colon",
      .raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
      .malformed,
      "the response violates HTTP: header without colon"
    ),
    Row(
      "two lengths",
      .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
      .malformed,
      "the response has an invalid Content-Length `3, 4`"
    ),
    Row(
      "broken chunks",
      .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
      .malformed,
      "the chunked body is invalid after 0 bytes"
    ),
    Row(
      "an unknown version",
      .raw("HTTP/7.3 200 OK\r\n\r\n"),
      .malformed,
      "the response violates HTTP: unsupported HTTP version (7.3) in response"
    ),
    Row("endless fields", .endlessHead, .malformed, "the response header exceeds the limit of 64 KiB"),
    Row("an endless field", .endlessLine, .malformed, "a line of the response header is too long"),
    Row("an endless body", .endlessBody, .tooLarge, "the body is longer than the limit of 100 kB"),
    Row(
      "a long body",
      .response(body: pattern(100_001)),
      .tooLarge,
      "the body has 100001 bytes, over the limit of 100 kB"
    ),
    Row(
      "broken gzip",
      .response(200, [("Content-Encoding", "gzip")], body: Array("not gzip".utf8)),
      .malformed,
      "cannot decode the content coding of the body: incorrect header check"
    ),
    Row(
      "a redirect to a file",
      .redirect(to: "file:///etc/passwd"),
      .forbiddenRedirect,
      "the server redirected to `file:///etc/passwd`, which has the scheme `file`"
    ),
  ]

  @Test(arguments: rows)
  func `each failure has its code and its message`(row: Row) async throws {
    let server = try LoopbackServer { _ in row.reply }
    let url = try ImageURL(server.url("/a.png"))
    let request = DownloadRequest(url: url, bodyLimit: ByteCount(100_000))
    let error = try #require(await downloader.failure(request))
    #expect(error.code == row.code)
    #expect(error.message == row.message)
    #expect(error.url == url)
  }
}
