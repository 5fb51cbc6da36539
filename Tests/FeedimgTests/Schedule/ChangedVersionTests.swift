import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Interrupted transfers whose server no longer has the same version.
///
/// Each load has one attempt.
@Suite(.timeLimit(.minutes(10))) struct ChangedVersionTests {
  /// A server whose every response has the next version of the picture, and pauses within it until the test
  /// releases it.
  private final class Versions: Downloading {
    private struct State {
      var requests: [DownloadRequest] = []
      var begun = 0
      var isReleased = false
    }

    /// The fields of responses to range requests.
    ///
    /// Nil means the whole next version.
    let part: [(String, String)]?
    private let state = Mutex(State())

    init(_ part: [(String, String)]?) { self.part = part }

    static func picture(_ version: Int) -> [UInt8] {
      PictureOrigin.picture(UInt8(version), size: 4000 - version)
    }

    var ranges: [String?] { state.withLock { $0.requests.map { $0.fields["Range"] } } }
    /// The number of responses that paused within the picture.
    var begun: Int { state.withLock { $0.begun } }

    func release() { state.withLock { $0.isReleased = true } }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let version = state.withLock { state in
        state.requests.append(request)
        return state.requests.count
      }
      let body = Self.picture(version)
      var head = ResponseHead(
        status: 200,
        fields: Self.fields([("ETag", "\"\(version)\""), ("Accept-Ranges", "bytes")]),
        url: request.url,
        contentLength: body.count
      )
      if let part, request.fields["Range"] != nil {
        (head.status, head.fields, head.contentLength) = (206, Self.fields(part), nil)
      }
      try receiver.begin(head)
      try receiver.receive(body.prefix(1000))
      state.withLock { $0.begun += 1 }
      while !Task.isCancelled, !state.withLock(\.isReleased) { await Task.yield() }
      guard !Task.isCancelled else { throw LoadError(.cancelled, message: "cancelled") }
      try receiver.receive(body.dropFirst(1000))
      return head
    }

    private static func fields(_ fields: [(String, String)]) -> HTTPFields {
      HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
    }
  }

  private let clock = TestClock()
  private let item: FeedItem
  private let key: String

  init() throws {
    let url = try ImageURL("http://a.example/a.jpg")
    item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    key = url.key
  }

  private func test(_ downloader: Versions) throws -> TestLoader {
    try TestLoader(downloader: downloader, clock: { [clock] in clock.now }, time: ManualTime().time)
  }

  private func check(_ test: TestLoader, _ load: Task<LoadedImage, any Error>, version: Int) async throws {
    let picture = Versions.picture(version)
    #expect(try await load.value.bytes == picture)
    #expect(test.loader.resources.storage.store.read(key)?.bytes == picture)
    #expect(
      test.loader.resources.storage.store.response(for: key, to: nil)?.requestedAt == clock.now,
      "the time of the last request"
    )
    await test.loader.resources.storage.writes.run {}
    #expect(test.loader.resources.storage.store.partialDownload(of: key) == nil)
    #expect(await test.loader.resources.transport.scheduler.isIdle)
  }

  @Test func `each new version replaces the bytes received so far`() async throws {
    let downloader = Versions(nil)
    let test = try test(downloader)
    let load = Task<LoadedImage, any Error> { try await test.loader.load(item) }
    for count in 1...40 {
      while downloader.begun < count { await Task.yield() }
      clock += 100
      await test.loader.resources.transport.scheduler.changePath()
    }
    while downloader.begun < 41 { await Task.yield() }
    downloader.release()
    try await check(test, load, version: 41)
    #expect(downloader.ranges == [nil] + Array(repeating: "bytes=1000-", count: 40))
  }

  static let parts: [(String, [(String, String)])] = [
    ("no tag", [("Content-Range", "bytes 1000-3998/3999")]),
    ("another tag", [("Content-Range", "bytes 1000-3998/3999"), ("ETag", "\"2\"")]),
    ("another place", [("Content-Range", "bytes 0-3998/3999"), ("ETag", "\"1\"")]),
  ]

  @Test(arguments: parts)
  func `a part of another version is discarded, and the whole body is requested`(
    _ reason: String,
    _ fields: [(String, String)]
  ) async throws {
    let downloader = Versions(fields)
    let test = try test(downloader)
    let load = Task<LoadedImage, any Error> { try await test.loader.load(item) }
    while downloader.begun < 1 { await Task.yield() }
    clock += 100
    await test.loader.resources.transport.scheduler.changePath()
    while downloader.begun < 2 { await Task.yield() }
    downloader.release()
    try await check(test, load, version: 3)
    #expect(downloader.ranges == [nil, "bytes=1000-", nil], "\(reason)")
  }
}
