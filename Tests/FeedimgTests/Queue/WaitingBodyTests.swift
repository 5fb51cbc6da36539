import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What transfers hold that wait for their place, and what they find when they have it.
@Suite(.timeLimit(.minutes(10))) struct WaitingBodyTests {
  private final class Line: LoadObserving {
    private let count = Atomic(0)

    func observe(_ event: LoadEvent) {
      if case .queued = event.step { count.add(1, ordering: .releasing) }
    }

    func reaches(_ length: Int) async {
      while count.load(ordering: .acquiring) < length { await Task.yield() }
    }
  }

  /// Brings a quarter of the picture at first, and is told to stop long before it does.
  private final class LingeringDownloader: Downloading {
    private struct State {
      var requests: [DownloadRequest] = []
      var hasBegun = false
      var mayStop = false
    }

    private let state = Mutex(State())

    var ranges: [String?] { state.withLock { $0.requests.map { $0.fields["Range"] } } }
    var hasBegun: Bool { state.withLock(\.hasBegun) }

    func letStop() { state.withLock { $0.mayStop = true } }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let isFirst = state.withLock { state in
        state.requests.append(request)
        return state.requests.count == 1
      }
      let head = WaitingBodyTests.head(request)
      try receiver.begin(head)
      let start = head.status == 206 ? 1000 : 0
      try receiver.receive(WaitingBodyTests.picture[start..<(isFirst ? 1000 : 4000)])
      guard isFirst else { return head }
      state.withLock { $0.hasBegun = true }
      while !state.withLock(\.mayStop) { await Task.yield() }
      throw LoadError(.cancelled, url: request.url, message: "cancelled")
    }
  }

  private static let picture = PictureOrigin.picture(1, size: 4000)
  private static let strong = [("ETag", "\"1\""), ("Accept-Ranges", "bytes"), ("Content-Type", "image/jpeg")]
  private static let place = ("Content-Range", "bytes 1000-3999/4000")

  private static func head(_ request: DownloadRequest) -> ResponseHead {
    let isRest = request.fields["Range"] == "bytes=1000-"
    let fields = isRest ? strong + [place] : strong
    return ResponseHead(
      status: isRest ? 206 : 200,
      fields: HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) }),
      url: request.url,
      contentLength: isRest ? 3000 : 4000
    )
  }

  /// How many bodies are being written.
  private func fileCount(_ test: TestLoader) throws -> Int {
    let names = try FileManager.default.contentsOfDirectory(atPath: test.folder + "/cache/incoming")
    return names.count { !$0.contains(".") }
  }

  @Test func `what waits for its place holds no file`() async throws {
    let (downloader, line) = (HeldDownloader(holding: { _ in true }), Line())
    let test = try TestLoader(.cellular, downloader: downloader, time: ManualTime().time, observers: [line])
    let loads = try (0..<200).map { number in
      let item = try TestLoader.item(thumbnail: "http://h\(number % 20).example/\(number)")
      return Task { try await test.loader.load(item) }
    }
    await line.reaches(200)
    while downloader.running < 2 { await Task.yield() }
    let count = try fileCount(test)
    #expect(count <= 2, "two have a place, and small bodies are in memory")
    downloader.release()
    for load in loads { #expect(try await load.value.path != nil) }
    #expect(try fileCount(test) == 0)
  }

  @Test func `what is kept meanwhile is gone on with`() async throws {
    let downloader = HeldDownloader(
      holding: { $0.url.host == "held.example" },
      answering: { request in
        guard request.fields["Range"] == "bytes=1000-" else { return .init() }
        return .init(status: 206, body: Array(Self.picture[1000...]), fields: Self.strong + [Self.place])
      }
    )
    let line = Line()
    let test = try TestLoader(.cellular, downloader: downloader, time: ManualTime().time, observers: [line])
    // All that have a place.
    let held = try (0..<2).map { number in
      let item = try TestLoader.item(thumbnail: "http://held.example/\(number)")
      return Task { try await test.loader.load(item) }
    }
    while downloader.running < 2 { await Task.yield() }
    let item = try TestLoader.item(thumbnail: "http://a.example/a.jpg")
    let url = try #require(item.thumbnail).url
    let load = Task { try await test.loader.load(item) }
    await line.reaches(3)
    // As another program does.
    let writer = try test.loader.store.makeWriter()
    try Self.picture[..<1000].withUnsafeBytes { bytes in
      Result { () throws(CacheError) in try writer.write(bytes) }
    }
    .get()
    let head = Self.head(DownloadRequest(url: url))
    let now = SystemClock.seconds()
    try writer.setAside(
      ImageMetadata(
        key: url.key,
        role: .thumbnail,
        mediaType: "image/jpeg",
        answer: StoredAnswer(head: head, requestedAt: now, respondedAt: now)
      )
    )
    downloader.release()
    #expect(try await load.value.bytes == Self.picture)
    #expect(downloader.requests.all.last { $0.url == url }?.fields["Range"] == "bytes=1000-")
    for load in held { _ = try await load.value }
  }

  @Test(arguments: [false, true])
  func `what was left is gone on with by who asks at once, however late it stops`(
    _ isReload: Bool
  ) async throws {
    let downloader = LingeringDownloader()
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let first = Task { try await test.loader.load(item) }
    while !downloader.hasBegun { await Task.yield() }
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    let second = Task {
      try await isReload ? test.loader.reload(item) : test.loader.load(item)
    }
    while test.loader.transfers.present.count < 2 { await Task.yield() }
    downloader.letStop()
    #expect(try await second.value.bytes == Self.picture)
    #expect(downloader.ranges == [nil, "bytes=1000-"])
  }

  @Test func `what does not stop in time is not waited for`() async throws {
    let (downloader, time) = (LingeringDownloader(), ManualTime())
    let test = try TestLoader(downloader: downloader, time: time.time)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let first = Task { try await test.loader.load(item) }
    while !downloader.hasBegun { await Task.yield() }
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    let second = Task { try await test.loader.load(item) }
    while downloader.ranges.count < 2 {
      if time.sleepers > 0 { time.pass(.milliseconds(100)) }
      await Task.yield()
    }
    #expect(try await second.value.bytes == Self.picture)
    #expect(downloader.ranges == [nil, nil])
    downloader.letStop()
    while !test.loader.transfers.present.isEmpty { await Task.yield() }
  }
}
