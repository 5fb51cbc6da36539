import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Interrupted transfers whose range requests fail.
@Suite(.timeLimit(.minutes(10))) struct RefusedRangeTests {
  struct Reply: Sendable, CustomTestStringConvertible {
    var status: Int
    var fields: [(String, String)] = []
    var body = ""
    var code = LoadError.Code.status
    var retryAfter: Int?

    var testDescription: String { "\(status) \(fields)" }
  }

  /// A server that pauses within the first response, refuses one range request, and then serves the range.
  private final class Interrupted: Downloading {
    static let picture = PictureOrigin.picture(1, size: 4000)

    let reply: Reply
    private let state = Mutex<(requests: [DownloadRequest], begun: Int)>(([], 0))

    init(_ reply: Reply) { self.reply = reply }

    var ranges: [String?] { state.withLock { $0.requests.map { $0.fields["Range"] } } }
    /// The number of responses that paused within the picture.
    var begun: Int { state.withLock { $0.begun } }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let count = state.withLock { state in
        state.requests.append(request)
        return state.requests.count
      }
      let tag = ("ETag", "\"1\"")
      switch count {
      case 1:
        _ = try respond(
          request,
          200,
          [tag, ("Accept-Ranges", "bytes")],
          4000,
          Self.picture[..<1000],
          receiver
        )
        state.withLock { $0.begun += 1 }
        while !Task.isCancelled { await Task.yield() }
        throw LoadError(.cancelled, message: "cancelled")
      case 2:
        let body = Array(reply.body.utf8)
        return try respond(request, reply.status, reply.fields, body.count, body[...], receiver)
      case _ where request.fields["Range"] == nil:
        return try respond(request, 200, [tag], 4000, Self.picture[...], receiver)
      default:
        let place = ("Content-Range", "bytes 1000-3999/4000")
        return try respond(request, 206, [tag, place], 3000, Self.picture[1000...], receiver)
      }
    }

    private func respond(
      _ request: DownloadRequest,
      _ status: Int,
      _ fields: [(String, String)],
      _ length: Int,
      _ body: ArraySlice<UInt8>,
      _ receiver: any BodyReceiving
    ) throws(LoadError) -> ResponseHead {
      let fields = HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
      let head = ResponseHead(status: status, fields: fields, url: request.url, contentLength: length)
      try receiver.begin(head)
      try receiver.receive(body)
      return head
    }
  }

  static let others = [
    Reply(status: 304), Reply(status: 204), Reply(status: 300), Reply(status: 302),
  ]

  @Test(arguments: others)
  func `a response that is neither the range nor an error leads to a full request`(
    _ reply: Reply
  ) async throws {
    let downloader = Interrupted(reply)
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let load = Task { try await test.loader.load(item) }
    while downloader.begun == 0 { await Task.yield() }
    await test.loader.resources.transport.scheduler.changePath()
    #expect(try await load.value.bytes == Interrupted.picture)
    #expect(downloader.ranges == [nil, "bytes=1000-", nil])
    #expect(await test.loader.resources.transport.scheduler.isIdle)
  }

  static let replies = [
    Reply(status: 429, fields: [("Retry-After", "20")], retryAfter: 20),
    Reply(status: 503, fields: [("Retry-After", "7")], retryAfter: 7), Reply(status: 503),
    Reply(status: 404), Reply(status: 410),
    Reply(
      status: 200,
      fields: [("Content-Type", "text/html")],
      body: "<!DOCTYPE html><html><body>Sign in</body></html>",
      code: .notAnImage
    ),
  ]

  @Test(arguments: replies)
  func `an error response to a range request is reported, and the received bytes are kept`(
    _ reply: Reply
  ) async throws {
    let downloader = Interrupted(reply)
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let url = try ImageURL("http://a.example/a.jpg")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    let load = Task { try await test.loader.load(item) }
    while downloader.begun == 0 { await Task.yield() }
    await test.loader.resources.transport.scheduler.changePath()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == reply.code)
    #expect(error?.status == (reply.code == .status ? reply.status : nil))
    #expect(error?.retryAfter == reply.retryAfter)
    #expect(test.loader.resources.storage.store.partialDownload(of: url.key)?.bytes.count == 1000)
    #expect(await test.loader.resources.transport.scheduler.isIdle)
    let next = try TestLoader(downloader: downloader, folder: test.folder, time: ManualTime().time)
    #expect(try await next.loader.load(item).bytes == Interrupted.picture)
    await next.loader.resources.storage.writes.run {}
    #expect(next.loader.resources.storage.store.partialDownload(of: url.key) == nil)
    #expect(downloader.ranges == [nil, "bytes=1000-", "bytes=1000-"])
  }
}
