import FeedimgCache
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What a load finds of one that nobody waits for any more, when that has ended.
@Suite(.timeLimit(.minutes(10))) struct WindingDownTests {
  @Test func `what is being kept as its last reader leaves is not fetched again for the next`() async throws {
    let downloader = HeldDownloader(holding: { _ in false })
    var made: HeldCommits?
    let test = try TestLoader(
      downloader: downloader,
      time: ManualTime().time,
      store: { disk in
        let store = HeldCommits(disk)
        made = store
        return store
      }
    )
    let store = try #require(made)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let first = Task { try await test.loader.load(item) }
    while !store.isCommitting { await Task.yield() }
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    let second = Task { try await test.loader.load(item) }
    while test.loader.transfers.present.count < 2 { await Task.yield() }
    store.release()
    let image = try await second.value
    #expect(image.bytes == SampleImage.jpeg && image.source != .network)
    #expect(downloader.asked.count == 1)
  }

  @Test func `a load waits for all that winds down at once`() async throws {
    let time = ManualTime()
    let test = try TestLoader(downloader: HeldDownloader(holding: { _ in false }), time: time.time)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let variant = try #require(item.original)
    for _ in 1...3 {
      let run = LoadRun(.visible)
      run.leave()
      test.loader.transfers.begin(run, of: variant)
    }
    let load = Task { try await test.loader.load(item) }
    await time.pass(.seconds(1), when: 3)
    #expect(try await load.value.bytes == SampleImage.jpeg)
    #expect(time.time.now() == .seconds(1))
  }

  @Test
  func `a load waits for a question about its image that was stopped, and goes on with what it brought`()
    async throws
  {
    let (downloader, clock) = (LingeringAnswer(), TestClock())
    let test = try TestLoader(downloader: downloader, clock: { clock.now }, time: ManualTime().time)
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let url = try #require(item.original).url
    #expect(try await test.loader.load(item).source == .network)
    clock += 100
    #expect(try await test.loader.load(item).freshness?.isRevalidating == true)
    while !downloader.isLingering { await Task.yield() }
    test.loader.revalidations.stop()
    test.loader.forget(url.key)
    let load = Task { try await test.loader.load(item) }
    while test.loader.transfers.present.count < 2 { await Task.yield() }
    downloader.letStop()
    #expect(try await load.value.bytes == LingeringAnswer.picture)
    #expect(downloader.ranges == [nil, nil, "bytes=1000-"])
    await test.loader.revalidations.idle()
  }
}

/// Answers a question about an image with a quarter of another one, and is told to stop long before it does.
private final class LingeringAnswer: Downloading {
  static let picture = PictureOrigin.picture(1, size: 4000)

  private struct State {
    var ranges: [String?] = []
    var isLingering = false
    var mayStop = false
  }

  private let state = Mutex(State())

  var ranges: [String?] { state.withLock { $0.ranges } }
  var isLingering: Bool { state.withLock { $0.isLingering } }

  func letStop() { state.withLock { $0.mayStop = true } }

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let range = request.fields["Range"]
    let isFirst = state.withLock { state in
      state.ranges.append(range)
      return state.ranges.count == 1
    }
    let isQuestion = request.fields["If-None-Match"] != nil
    var fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=60")]
    fields += [("ETag", isFirst ? "\"0\"" : "\"1\""), ("Accept-Ranges", "bytes")]
    if range != nil { fields.append(("Content-Range", "bytes 1000-3999/4000")) }
    let body = isFirst ? SampleImage.jpeg : range == nil ? Self.picture : Array(Self.picture[1000...])
    let head = ResponseHead(
      status: range == nil ? 200 : 206,
      fields: HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) }),
      url: request.url,
      contentLength: body.count
    )
    try receiver.begin(head)
    try receiver.receive(isQuestion ? body[..<1000] : body[...])
    guard isQuestion else { return head }
    state.withLock { $0.isLingering = true }
    while !state.withLock(\.mayStop) { await Task.yield() }
    throw LoadError(.cancelled, url: request.url, message: "cancelled")
  }
}

/// A cache that makes images visible when a test lets it.
private final class HeldCommits: ImageStoring {
  private final class Writer: ImageWriting {
    let writer: any ImageWriting
    let store: HeldCommits

    init(_ writer: any ImageWriting, _ store: HeldCommits) { (self.writer, self.store) = (writer, store) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) { try writer.write(bytes) }
    func makeReader() -> (any WrittenReading)? { writer.makeReader() }
    func commit(_ metadata: ImageMetadata) throws(CacheError) -> StoredImage { try writer.commit(metadata) }

    func commit(
      _ metadata: ImageMetadata,
      _ later: (@escaping @Sendable () -> Void) -> Void
    ) async throws(CacheError) -> StoredImage {
      await store.wait()
      return try writer.commit(metadata)
    }

    func announce(_ metadata: ImageMetadata) { writer.announce(metadata) }
    func setAside(_ metadata: ImageMetadata) throws(CacheError) { try writer.setAside(metadata) }
    func discard() { writer.discard() }
  }

  private let store: any ImageStoring
  private let begun = Atomic(false)
  private let released = Atomic(false)

  init(_ store: any ImageStoring) { self.store = store }

  var isCommitting: Bool { begun.load(ordering: .acquiring) }

  func release() { released.store(true, ordering: .releasing) }

  private func wait() async {
    begun.store(true, ordering: .releasing)
    while !released.load(ordering: .acquiring) { await Task.yield() }
  }

  func makeWriter() throws(CacheError) -> any ImageWriting { Writer(try store.makeWriter(), self) }

  func read(_ key: String, for request: HTTPFields) -> (image: StoredImage, bytes: [UInt8])? {
    store.read(key, for: request)
  }
  func read(_ key: String) -> (image: StoredImage, bytes: [UInt8])? { store.read(key) }
  func contains(_ keys: [String]) -> [Bool] { store.contains(keys) }
  var isEmpty: Bool { store.isEmpty }
  func noteUse(of key: String, for request: HTTPFields, times: Int) {
    store.noteUse(of: key, for: request, times: times)
  }
  func follow(_ settings: UserSettings) { store.follow(settings) }
  func answer(for key: String) -> StoredAnswer? { store.answer(for: key) }
  func answer(for key: String, to request: HTTPFields) -> StoredAnswer? {
    store.answer(for: key, to: request)
  }
  func refresh(_ key: String, asked: StoredAnswer, news: StoredAnswer) throws(CacheError) -> StoredAnswer? {
    try store.refresh(key, asked: asked, news: news)
  }
  func remove(_ key: String) throws(CacheError) -> Bool { try store.remove(key) }
  func beginning(of key: String) -> ImageBeginning? { store.beginning(of: key) }
  func removeBeginning(of key: String) { store.removeBeginning(of: key) }
}
