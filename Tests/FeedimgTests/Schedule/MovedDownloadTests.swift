import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Downloads that move to another network path during their response.
///
/// No time passes.
@Suite(.timeLimit(.minutes(10))) struct MovedDownloadTests {
  typealias Row = PreemptedDownloadTests.Row

  private static let picture = PreemptedDownloadTests.picture
  private static let plain = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
  private static let tagged = plain + [("ETag", "\"1\"")]
  private static let strong = tagged + [("Accept-Ranges", "bytes")]

  static let rows =
    PreemptedDownloadTests.rows + [
      Row(plain, before: 1000, after: 3000, [nil, nil], "bytes that cannot be resumed are requested again"),
      Row(plain, before: 0, after: 0, [nil, nil], "a head alone has no bytes"),
      Row(
        tagged,
        before: 1000,
        after: 3000,
        [nil, "bytes=1000-"],
        "the server announced no ranges, but may serve them"
      ),
    ]

  private static func test(_ downloader: LateDownloader) throws -> TestLoader {
    try TestLoader(downloader: downloader, time: ManualTime().time)
  }

  private static func item(_ url: String) throws -> FeedItem {
    FeedItem(original: ImageVariant(role: .original, url: try ImageURL(url)), thumbnail: nil)
  }

  /// Returns when the network change was reported and the downloads have moved.
  private static func change(_ test: TestLoader, to kind: NetworkKind, metered: Metered = .no) async {
    await test.become(kind, metered: metered)
    await test.loader.resources.transport.scheduler.settle()
  }

  private static func ranges(_ downloader: LateDownloader) -> [String: [String?]] {
    Dictionary(grouping: downloader.requests, by: \.url.text).mapValues { $0.map { $0.fields["Range"] } }
  }

  @Test(arguments: rows) func `an image moves to the new path and is complete`(_ row: Row) async throws {
    let downloader = LateDownloader(Self.picture, row.fields, row.arrival)
    let test = try Self.test(downloader)
    let urls = ["http://a.example/p0", "http://b.example/p1"]
    let loads = urls.map { url in Task { try await test.loader.load(Self.item(url)) } }
    while downloader.begun < 2 { await Task.yield() }
    test.network.become(.ethernet)
    for load in loads { #expect(try await load.value.bytes == Self.picture) }
    for url in urls {
      let key = try ImageURL(url).key
      #expect(test.loader.resources.storage.store.read(key)?.bytes == Self.picture)
      #expect(test.loader.resources.storage.memory[key]?.bytes == Self.picture)
      #expect(Self.ranges(downloader)[url] == row.ranges, "\(row.reason)")
    }
    #expect(downloader.stopped == 2)
    #expect(await test.loader.resources.transport.scheduler.isIdle)
  }

  static let stays: [(String, NetworkKind, Metered, String)] = [
    ("http://a.example/p", .wifi, .yes, "only the metering has changed"),
    ("http://a.example/p", .offline, .no, "there is no other path"),
    ("http://127.0.0.1/p", .ethernet, .no, "the path to this machine has not changed"),
  ]

  @Test(arguments: stays)
  func `a download that gains nothing from another path does not move`(
    _ url: String,
    _ kind: NetworkKind,
    _ metered: Metered,
    _ reason: String
  ) async throws {
    let downloader = LateDownloader(Self.picture, Self.strong, .init(before: 1000, after: 3000))
    let test = try Self.test(downloader)
    let cache = ResponseCache(test.loader)
    let request = FetchRequest(try ImageURL(url), fields: HTTPFields(), priority: .visible)
    let body = Task { try await PreemptedDownloadTests.body(of: cache.response(to: request)) }
    while downloader.begun < 1 { await Task.yield() }
    await Self.change(test, to: kind, metered: metered)
    downloader.release()
    #expect(try await body.value == Self.picture)
    #expect(downloader.stopped == 0, "\(reason)")
    #expect(downloader.requests.count == 1)
  }

  @Test func `a download that gets its slot on the new path sends one request`() async throws {
    let downloader = HeldDownloader(holding: { _ in true })
    let test = try TestLoader(.cellular, downloader: downloader, time: ManualTime().time)
    let loads = try (0..<3).map { number in
      let item = try TestLoader.item(thumbnail: "http://a.example/\(number)")
      return Task { try await test.loader.load(item) }
    }
    // Two downloads have a slot. The third gets one on a probably faster network.
    while downloader.asked.count < 2 || test.loader.resources.loads.coalescer.count < 3 { await Task.yield() }
    test.network.become(.ethernet)
    while downloader.asked.count < 2 * 2 + 1 { await Task.yield() }
    downloader.release()
    for load in loads { #expect(try await load.value.bytes == SampleImage.jpeg) }
    #expect(downloader.asked.count == 2 * 2 + 1)
  }

  static let responses: [([(String, String)], [String?], String)] = [
    (strong, [nil, "bytes=1000-"], "it resumes after the bytes that readers have"),
    (plain, [nil], "readers have bytes that cannot be resumed"),
    (tagged, [nil], "the server announced no ranges"),
  ]

  @Test(arguments: responses)
  func `a streamed response is complete`(
    _ fields: [(String, String)],
    _ ranges: [String?],
    _ reason: String
  ) async throws {
    let downloader = LateDownloader(Self.picture, fields, .init(before: 1000, after: 3000))
    let test = try Self.test(downloader)
    let cache = ResponseCache(test.loader)
    let url = try ImageURL("http://a.example/p")
    let request = FetchRequest(url, fields: HTTPFields(), priority: .visible)
    let response = Task { try await PreemptedDownloadTests.body(of: cache.response(to: request)) }
    while downloader.begun < 1 { await Task.yield() }
    await Self.change(test, to: .ethernet)
    downloader.release()
    #expect(try await response.value == Self.picture)
    #expect(cache.store.find(request).hit?.bytes == Self.picture)
    #expect(Self.ranges(downloader)[url.text] == ranges, "\(reason)")
  }

  @Test func `a response that cannot be resumed restarts at most twice`() async throws {
    let downloader = EndlessDownloader()
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let load = Task { try await test.loader.load(Self.item("http://a.example/p")) }
    for count in 1...3 {
      while downloader.begun < count { await Task.yield() }
      await test.loader.resources.transport.scheduler.changePath()
    }
    // The third stays on the old path and fails there.
    downloader.end()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.cause == .pathChanged)
    #expect(downloader.begun == 3)
    let failure = try #require(error)
    #expect(!failure.isSilence && !failure.isOfWholeOrigin)
    #expect(await test.loader.resources.transport.scheduler.isIdle)
  }
}

/// A server that pauses within each response and sends no validators.
private final class EndlessDownloader: Downloading {
  private let state = Mutex((begun: 0, isOver: false))

  /// The number of started responses.
  var begun: Int { state.withLock { $0.begun } }

  /// Ends the connection with a timeout.
  func end() { state.withLock { $0.isOver = true } }

  private var isOver: Bool { state.withLock { $0.isOver } }

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    try receiver.begin(
      ResponseHead(status: 200, fields: HTTPFields(), url: request.url, contentLength: 4000)
    )
    try receiver.receive(PictureOrigin.picture(1, size: 1000)[...])
    state.withLock { $0.begun += 1 }
    while !Task.isCancelled, !isOver { await Task.yield() }
    throw Task.isCancelled
      ? LoadError(.cancelled, message: "cancelled") : LoadError(.timeout, message: "quiet")
  }
}
