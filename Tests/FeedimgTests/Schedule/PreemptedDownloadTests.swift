import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Downloads that are preempted during their response.
@Suite(.timeLimit(.minutes(10))) struct PreemptedDownloadTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let fields: [(String, String)]
    let arrival: LateDownloader.Arrival
    /// The `Range` of each request of a preempted download.
    let ranges: [String?]
    let reason: String

    init(
      _ fields: [(String, String)],
      before: Int?,
      after: Int?,
      _ ranges: [String?],
      _ reason: String
    ) {
      (self.fields, self.ranges, self.reason) = (fields, ranges, reason)
      arrival = LateDownloader.Arrival(before: before, after: after)
    }

    var testDescription: String { reason }
  }

  static let size = 4000
  static let picture = PictureOrigin.picture(1, size: size)
  private static let plain = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
  private static let weak = plain + [("ETag", "W/\"1\""), ("Accept-Ranges", "bytes")]
  private static let strong = plain + [("ETag", "\"1\""), ("Accept-Ranges", "bytes")]

  static let rows = [
    Row(plain, before: nil, after: nil, [nil, nil], "no bytes have come"),
    Row(plain, before: nil, after: 0, [nil, nil], "the head comes after the stop"),
    Row(plain, before: nil, after: size / 2, [nil, nil], "a part comes that cannot be resumed"),
    Row(plain, before: nil, after: size, [nil, nil], "all bytes come after the stop"),
    Row(weak, before: nil, after: size / 2, [nil, nil], "a weak tag does not identify bytes"),
    Row(strong, before: nil, after: size / 2, [nil, nil], "bytes after the stop do not count"),
    Row(strong, before: 0, after: size / 2, [nil, nil], "a head alone has nothing to resume"),
    Row(strong, before: 1000, after: 3000, [nil, "bytes=1000-"], "the bytes before the stop are resumed"),
  ]

  /// Four downloads run on a link of unknown speed.
  ///
  /// Two of them are preempted for a visible one.
  private static let paths = (0..<4).map { "http://a.example/p\($0)" }

  private static func item(_ url: String) throws -> FeedItem {
    FeedItem(original: ImageVariant(role: .original, url: try ImageURL(url)), thumbnail: nil)
  }

  private static func check(_ downloader: LateDownloader, _ row: Row) {
    let ranges = paths.map { path in
      downloader.requests.filter { $0.url.text == path }.map { $0.fields["Range"] }
    }
    #expect(downloader.stopped == 2)
    #expect(ranges.filter { $0 == row.ranges }.count >= 2, "\(row.reason)")
    #expect(ranges.allSatisfy { $0 == row.ranges || $0 == [nil] }, "\(row.reason)")
  }

  @Test(arguments: rows) func `a preempted image is complete, shown and stored`(_ row: Row) async throws {
    let downloader = LateDownloader(Self.picture, row.fields, row.arrival)
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let told = RecordedValues<LoadProgress>()
    let prefetches = try Self.paths.map { path in
      let item = try Self.item(path)
      return Task { try await test.loader.load(item, priority: .prefetch) { told.add($0) } }
    }
    while downloader.begun < 4 { await Task.yield() }
    #expect(try await test.loader.load(Self.item("http://a.example/v")).bytes == Self.picture)
    downloader.release()
    for prefetch in prefetches { #expect(try await prefetch.value.bytes == Self.picture) }
    for path in Self.paths {
      let key = try ImageURL(path).key
      #expect(test.loader.resources.storage.store.read(key)?.bytes == Self.picture)
      #expect(test.loader.resources.storage.memory[key]?.bytes == Self.picture)
      await test.loader.resources.storage.writes.run {}
      #expect(test.loader.resources.storage.store.partialDownload(of: key) == nil)
    }
    #expect(told.all.allSatisfy { $0.received.bytes <= Self.size })
    #expect(told.all.filter { $0.received.bytes == Self.size }.count == 4)
    #expect(await test.loader.resources.transport.scheduler.isIdle)
    Self.check(downloader, row)
  }

  @Test(arguments: rows)
  func `a preempted response is complete, streamed and stored`(_ row: Row) async throws {
    let downloader = LateDownloader(Self.picture, row.fields, row.arrival)
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let cache = ResponseCache(test.loader)
    let requests = try Self.paths.map {
      FetchRequest(try ImageURL($0), fields: HTTPFields(), priority: .prefetch)
    }
    let prefetches = requests.map { request in Task { try await Self.body(of: cache.response(to: request)) } }
    while downloader.begun < 4 { await Task.yield() }
    let visible = FetchRequest(
      try ImageURL("http://a.example/v"),
      fields: HTTPFields(),
      priority: .visible
    )
    #expect(try await Self.body(of: cache.response(to: visible)) == Self.picture)
    downloader.release()
    for prefetch in prefetches { #expect(try await prefetch.value == Self.picture) }
    for request in requests { #expect(cache.store.find(request).hit?.bytes == Self.picture) }
    Self.check(downloader, row)
  }

  @Test func `a download whose server announces no ranges is not preempted`() async throws {
    let tagged = Self.plain + [("ETag", "\"1\"")]
    let downloader = LateDownloader(Self.picture, tagged, .init(before: 1000, after: 3000))
    let time = ManualTime()
    let test = try TestLoader(downloader: downloader, time: time.time)
    let prefetches = try Self.paths.map { path in
      let item = try Self.item(path)
      return Task { try await test.loader.load(item, priority: .prefetch) }
    }
    while downloader.begun < 4 { await Task.yield() }
    let visible = Task { try await test.loader.load(Self.item("http://a.example/v")) }
    // It runs until the visible download gets an extra slot.
    await time.pass(.seconds(1), when: 1)
    #expect(try await visible.value.bytes == Self.picture)
    downloader.release()
    for prefetch in prefetches { #expect(try await prefetch.value.bytes == Self.picture) }
    #expect(downloader.stopped == 0)
    #expect(downloader.requests.allSatisfy { $0.fields["Range"] == nil })
  }

  /// A transfer that ends normally after another number of bytes than announced.
  private struct Miscounting: Downloading {
    let extra: Int

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let fields = HTTPFields([
        .init(name: "Content-Type", value: "image/jpeg"), .init(name: "Cache-Control", value: "max-age=600"),
      ])
      let head = ResponseHead(
        status: 200,
        fields: fields,
        url: request.url,
        contentLength: PreemptedDownloadTests.size - extra
      )
      try receiver.begin(head)
      try receiver.receive(PreemptedDownloadTests.picture[...])
      return head
    }
  }

  @Test(arguments: [-1, 1])
  func `a body without the announced length is neither shown nor stored`(_ extra: Int) async throws {
    let test = try TestLoader(downloader: Miscounting(extra: extra))
    let item = try Self.item("http://a.example/a")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.code == .truncated)
    let key = try #require(item.original?.url.key)
    #expect(
      test.loader.resources.storage.store.read(key) == nil && test.loader.resources.storage.memory[key] == nil
    )
    let cache = ResponseCache(test.loader)
    let request = FetchRequest(
      try ImageURL("http://a.example/a"),
      fields: HTTPFields(),
      priority: .visible
    )
    let response = try await cache.response(to: request)
    await #expect(throws: LoadError.self) { try await Self.body(of: response) }
    #expect(cache.store.find(request).hit == nil)
  }

  static func body(of response: FetchResponse) async throws -> [UInt8] {
    switch response.body {
    case .absent: return []
    case .whole(let bytes): return bytes
    case .arriving(let body, let length):
      var bytes: [UInt8] = []
      while let chunk = try await body.chunk(at: bytes.count) { bytes += chunk }
      #expect(length == bytes.count)
      return bytes
    }
  }
}
