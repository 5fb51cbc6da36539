import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import FeedimgPipeline

/// Bodies that are interrupted and resumed over a real connection.
@Suite(.timeLimit(.minutes(10)))
struct ResumingTests {
  /// Keeps the received head and bytes.
  private final class Collector: BodyReceiving {
    private let content = Mutex<(head: ResponseHead?, bytes: [UInt8])>((nil, []))

    var head: ResponseHead? { content.withLock { $0.head } }
    var bytes: [UInt8] { content.withLock { $0.bytes } }

    func begin(_ head: ResponseHead) throws(LoadError) { content.withLock { $0.head = head } }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
      content.withLock { $0.bytes.append(contentsOf: bytes) }
    }
  }

  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
  /// Bytes with a period that divides no buffer size, so that a missing or misplaced byte shows.
  private static let body = (0..<250_000).map { UInt8($0 % 251) }
  private static let now = 784_111_777

  /// Serves a body with ranges and a tag.
  ///
  /// Its first response is interrupted.
  private static func serve(_ request: Request, tag: String) -> Reply {
    let fields = [("ETag", tag), ("Accept-Ranges", "bytes")]
    guard let range = request["range"] else {
      let head = Reply.head(200, fields + [("Content-Length", String(body.count))])
      return Reply([.send(head + body.prefix(100_000))])
    }
    guard request["if-range"] == tag, let first = Int(range.dropFirst("bytes=".count).dropLast()) else {
      return .response(200, fields, body: body)
    }
    let place = ("Content-Range", "bytes \(first)-\(body.count - 1)/\(body.count)")
    return .response(206, fields + [place], body: Array(body[first...]))
  }

  /// The first, interrupted response, with its received bytes.
  private func begin(_ url: ImageURL) async throws -> (head: ResponseHead, bytes: [UInt8]) {
    let collector = Collector()
    let error = await #expect(throws: LoadError.self) {
      try await downloader.download(DownloadRequest(url: url), into: collector)
    }
    #expect(error?.code == .truncated)
    return (try #require(collector.head), collector.bytes)
  }

  @Test func `an interrupted body is resumed, and only the rest is sent`() async throws {
    let server = try LoopbackServer { Self.serve($0, tag: "\"1\"") }
    let url = try ImageURL(server.url("/"))
    let (head, bytes) = try await begin(url)
    let resumption = try #require(Resumption(head, kept: bytes.count, now: Self.now))
    let collector = Collector()
    let part = try await downloader.download(
      DownloadRequest(url: url, fields: resumption.fields),
      into: collector
    )
    #expect(resumption.step(part) == .append)
    #expect(bytes + collector.bytes == Self.body)
    #expect(collector.bytes.count == 150_000)
    #expect(resumption.completeLength(after: part) == Self.body.count)
  }

  @Test func `an image that has changed meanwhile is sent whole`() async throws {
    let server = try LoopbackServer { Self.serve($0, tag: $0["range"] == nil ? "\"1\"" : "\"2\"") }
    let url = try ImageURL(server.url("/"))
    let (head, bytes) = try await begin(url)
    let resumption = try #require(Resumption(head, kept: bytes.count, now: Self.now))
    let collector = Collector()
    let response = try await downloader.download(
      DownloadRequest(url: url, fields: resumption.fields),
      into: collector
    )
    #expect(resumption.step(response) == .replace)
    #expect(collector.bytes == Self.body)
  }

  static let codedFields = [
    [("ETag", "\"1\""), ("Accept-Ranges", "bytes")],
    [("Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")],
  ]

  @Test(arguments: codedFields)
  func `a decoded body is not resumed`(_ fields: [(String, String)]) async throws {
    let coding = ("Content-Encoding", "deflate")
    let server = try LoopbackServer { _ in .response(200, fields + [coding], body: [0x03, 0x00]) }
    let head = try await downloader.download(
      DownloadRequest(url: try ImageURL(server.url("/"))),
      into: Collector()
    )
    #expect(Resumption(head, kept: 1, now: Self.now) == nil)
  }
}
