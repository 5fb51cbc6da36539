import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What comes of a transfer that is interrupted where its server has no rest of what came; no try is to spare.
@Suite(.timeLimit(.minutes(10))) struct LostRestTests {
  /// Each answer has the next version of the picture, and stops within it until it is let go.
  private final class Versions: Downloading {
    private struct State {
      var requests: [DownloadRequest] = []
      var begun = 0
      var isReleased = false
    }

    /// Of answers to requests for a range; nil for the whole of the next version.
    let part: [(String, String)]?
    private let state = Mutex(State())

    init(_ part: [(String, String)]?) { self.part = part }

    static func picture(_ version: Int) -> [UInt8] {
      PictureOrigin.picture(UInt8(version), size: 4000 - version)
    }

    var ranges: [String?] { state.withLock { $0.requests.map { $0.fields["Range"] } } }
    /// How many answers have come as far as they do.
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
    #expect(test.loader.store.read(key)?.bytes == picture)
    #expect(test.loader.store.answer(for: key)?.requestedAt == clock.now, "when the last request went out")
    #expect(test.loader.store.beginning(of: key) == nil)
    #expect(test.loader.gate.isIdle)
  }

  @Test func `another version takes the place of what came, however often`() async throws {
    let downloader = Versions(nil)
    let test = try test(downloader)
    let load = Task<LoadedImage, any Error> { try await test.loader.load(item) }
    for count in 1...6 {
      while downloader.begun < count { await Task.yield() }
      clock += 100
      test.loader.gate.leavePath()
    }
    while downloader.begun < 7 { await Task.yield() }
    downloader.release()
    try await check(test, load, version: 7)
    #expect(downloader.ranges == [nil] + Array(repeating: "bytes=1000-", count: 6))
  }

  static let parts: [(String, [(String, String)])] = [
    ("no tag", [("Content-Range", "bytes 1000-3998/3999")]),
    ("another tag", [("Content-Range", "bytes 1000-3998/3999"), ("ETag", "\"2\"")]),
    ("another place", [("Content-Range", "bytes 0-3998/3999"), ("ETag", "\"1\"")]),
  ]

  @Test(arguments: parts)
  func `what is of another version is thrown away, and all asked for`(
    _ what: String,
    _ fields: [(String, String)]
  ) async throws {
    let downloader = Versions(fields)
    let test = try test(downloader)
    let load = Task<LoadedImage, any Error> { try await test.loader.load(item) }
    while downloader.begun < 1 { await Task.yield() }
    clock += 100
    test.loader.gate.leavePath()
    while downloader.begun < 2 { await Task.yield() }
    downloader.release()
    try await check(test, load, version: 3)
    #expect(downloader.ranges == [nil, "bytes=1000-", nil], "\(what)")
  }
}
