import FeedimgModel
import LoopbackServer
import Testing

@testable import FeedimgTransfer

@Suite(.timeLimit(.minutes(10))) struct ReceivedHeadTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  /// Lines of a response head, and their meaning.
  struct Row: Sendable, CustomTestStringConvertible {
    var lines: [String]
    var status: Int
    var length: Int?
    var endsByClosing: Bool
    var reason: String
    var testDescription: String { reason }

    init(_ lines: [String], _ status: Int, length: Int?, closing: Bool, _ reason: String) {
      (self.lines, self.status, self.length, self.reason) = (lines, status, length, reason)
      endsByClosing = closing
    }
  }

  static let rows = [
    Row(["HTTP/1.1 200 OK", "Content-Length: 5"], 200, length: 5, closing: false, "a length is announced"),
    Row(
      ["HTTP/1.1 200 OK"],
      200,
      length: nil,
      closing: true,
      "no length: closing the connection ends the body"
    ),
    Row(["HTTP/1.0 200 OK"], 200, length: nil, closing: true, "HTTP/1.0 has no chunks"),
    Row(["HTTP/1.1 204 No Content"], 204, length: nil, closing: false, "204 has no body"),
    Row(
      ["HTTP/1.1 304 Not Modified", "Content-Length: 5"],
      304,
      length: nil,
      closing: false,
      "the length of a 304 is that of the body it leaves out"
    ),
    Row(
      ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 5"],
      200,
      length: nil,
      closing: false,
      "a transfer coding overrides the length"
    ),
    Row(
      ["HTTP/1.1 200 OK", "Content-Length: 5", "content-length: 5"],
      200,
      length: 5,
      closing: false,
      "equal lengths may be repeated"
    ),
    Row(
      ["HTTP/1.1 103 Early Hints", "Link: </a.css>", "", "HTTP/1.1 404 Not Found", "Content-Length: 0"],
      404,
      length: 0,
      closing: false,
      "an interim response is skipped"
    ),
    Row(
      ["HTTP/1.1 200 OK", "CONTENT-LENGTH: 6"],
      200,
      length: 6,
      closing: false,
      "names differ only by the case of ASCII letters"
    ),
    Row(["HTTP/1.1 299"], 299, length: nil, closing: true, "a reason phrase is not required"),
  ]

  /// The head that reaches the receiver, independent of the body.
  private func head(_ lines: [String]) async throws -> ResponseHead? {
    let collector = Collector()
    _ = try await receive(Array((lines + ["", ""]).joined(separator: "\r\n").utf8), into: collector)
    return collector.heads.last
  }

  private func receive(_ bytes: [UInt8], into collector: Collector) async throws -> LoadError? {
    let server = try LoopbackServer { _ in Reply([.send(bytes)]) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    return await downloader.failure(request, into: collector)
  }

  @Test(arguments: rows)
  func `a head tells where its body ends`(row: Row) async throws {
    let head = try #require(try await head(row.lines))
    #expect(head.status == row.status)
    #expect(head.contentLength == row.length)
    #expect(head.endsByClosing == row.endsByClosing)
  }

  @Test func `HTTP/2 itself marks the end of a stream`() throws {
    #expect(try !ReceivedHead(status: 200, isHTTP1: false, fields: HTTPFields()).endsByClosing)
  }

  @Test func `fields keep their order, their lines and their values without white space`() async throws {
    let lines = ["HTTP/1.1 200 OK", "Vary:  Accept \t", "X-Empty:", "vary: Cookie", "X-Colon: a:b"]
    let head = try #require(try await head(lines))
    let expected = [("Vary", "Accept"), ("X-Empty", ""), ("vary", "Cookie"), ("X-Colon", "a:b")]
    #expect(head.fields.fields.map(\.name) == expected.map(\.0))
    #expect(head.fields.fields.map(\.value) == expected.map(\.1))
    #expect(head.fields["VARY"] == "Accept, Cookie")
  }

  @Test func `a folded line continues the field before it`() async throws {
    let head = try #require(try await head(["HTTP/1.1 200 OK", "X-Long: one", " two", "X-Short: three"]))
    #expect(head.fields["x-long"] == "one two")
    #expect(head.fields["x-short"] == "three")
  }

  @Test func `a value that is not UTF-8 is read as Latin-1`() async throws {
    let collector = Collector()
    let start = Array("HTTP/1.1 200 OK\r\nX-Name: caf".utf8)
    _ = try await receive(start + [0xE9] + Array("\r\nX-Other: café\r\n\r\n".utf8), into: collector)
    #expect(collector.heads.first?.fields["x-name"] == "café")
    #expect(collector.heads.first?.fields["x-other"] == "café")
  }

  @Test func `an interim response leaves no fields`() async throws {
    let lines = ["HTTP/1.1 103 Early Hints", "Link: </a.css>", "", "HTTP/1.1 200 OK", "X-A: 1"]
    #expect(try #require(try await head(lines)).fields.fields.map(\.name) == ["X-A"])
  }

  @Test(arguments: ["5, 6", "5, x", ",", "-1", "+1", "five", "0x10", "99999999999999999999", ""])
  func `an invalid length is refused`(length: String) async throws {
    let fields = HTTPFields([HTTPFields.Field(name: "Content-Length", value: length)])
    let error = #expect(throws: LoadError.self) {
      try ReceivedHead(status: 200, isHTTP1: true, fields: fields)
    }
    #expect(error?.code == .malformed)
    #expect(error?.message == "the response has an invalid Content-Length `\(length)`")
    let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabcde".utf8)
    #expect(try await receive(head, into: Collector())?.code == .malformed)
  }

  @Test(arguments: ["HTTP/1.1", "HTTP/1.1 OK", "HTTP/1.1 99 Low", "HTTP/1.1 2000 High"])
  func `a response begins with a status line`(line: String) async throws {
    let collector = Collector()
    let error = try await receive(Array("\(line)\r\nX-A: 1\r\n\r\n".utf8), into: collector)
    #expect(error?.code == .malformed)
    #expect(collector.heads.isEmpty)
  }

  // MARK: Limits

  private static let hint =
    "HTTP/1.1 103 Early Hints\r\nLink: </\(String(repeating: "a", count: 1000)).css>\r\n\r\n"
  private static let bothParts = "the response header and trailer together exceed the limit of"

  /// Endless responses, each of which would fill the memory, and the message of the limit that ends them.
  static let endless: [(Reply, String)] = [
    (
      Reply([.sendForever(Array(hint.utf8))]),
      "the response header exceeds the limit of 64 KiB"
    ),
    (
      Reply([.sendForever(Array("HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n".utf8))]),
      "the response header exceeds the limit of 256 fields"
    ),
    (.endlessHead, "the response header exceeds the limit of 64 KiB"),
    (.endlessFields, "the response header exceeds the limit of 256 fields"),
    (.endlessTrailer("X-More: \(String(repeating: "a", count: 1000))"), "\(bothParts) 64 KiB"),
    (.endlessTrailer("X-More: 1"), "\(bothParts) 256 fields"),
    (.endlessTrailer("a:"), "\(bothParts) 256 fields"),
    (.endlessExtension, "the header and chunk framing of the response exceed the limit of 64 KiB"),
  ]

  @Test(arguments: endless)
  func `all bytes outside the body share one limit`(reply: Reply, message: String) async throws {
    let server = try LoopbackServer { _ in reply }
    // Without the limit, the test fails before the memory is full.
    let request = DownloadRequest(url: try ImageURL(server.url("/")), totalTimeout: .seconds(15))
    let error = await downloader.failure(request)
    #expect(error?.code == .malformed)
    #expect(error?.message == message)
    await server.reaches { $0.closedByClient == 1 }
  }

  @Test func `a body in chunks of one byte arrives whole`() async throws {
    let server = try LoopbackServer { _ in .chunked(body: pattern(10_000), size: 1) }
    let collector = Collector()
    _ = try await downloader.download(DownloadRequest(url: try ImageURL(server.url("/"))), into: collector)
    #expect(collector.bytes == pattern(10_000))
  }

  @Test func `a trailer within the limit is accepted`() async throws {
    let trailers = (1...200).map { ("X-\($0)", "1") }
    let server = try LoopbackServer { _ in .chunked(body: pattern(1000), size: 100, trailers: trailers) }
    let collector = Collector()
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let head = try await downloader.download(request, into: collector)
    #expect(collector.bytes == pattern(1000))
    #expect(head.fields.fields.map(\.name) == ["Transfer-Encoding"])
  }
}
