import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Loads that start while a cancelled load of the same image ends.
@Suite(.timeLimit(.minutes(10))) struct EndingLoadTests {
  @Test func `an image that is stored as its last caller leaves is not downloaded again`() async throws {
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
    await store.waitForCommit()
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    let second = Task { try await test.loader.load(item) }
    let slot = test.loader.slot()
    slot.show(item)
    // The slot shows the image while the store still waits.
    for await presentation in slot.presentations where !presentation.isLoading {
      #expect(presentation.image?.bytes == SampleImage.jpeg && presentation.image?.path == nil)
      break
    }
    store.release()
    let image = try await second.value
    #expect(image.bytes == SampleImage.jpeg && image.source != .network && image.path != nil)
    #expect(downloader.asked.count == 1)
  }
}

/// Images that wait for a slow disk.
@Suite(.timeLimit(.minutes(10))) struct SlowDiskTests {
  @Test func `images that a slot shows while the disk stands still are not all kept in memory`() async throws
  {
    var made: HeldCommits?
    let test = try TestLoader(
      downloader: HeldDownloader(holding: { _ in false }),
      time: ManualTime().time,
      store: { disk in
        let store = HeldCommits(disk)
        made = store
        return store
      }
    )
    let store = try #require(made)
    var notes: [Int: [String]] = [:]
    for number in 0...StoresInFlight.maximumCount {
      let slot = test.loader.slot()
      slot.show(try TestLoader.item(original: "http://a.example/\(number).jpg"))
      for await presentation in slot.presentations where !presentation.isLoading {
        notes[number] = presentation.image?.notes
        break
      }
    }
    #expect(notes[StoresInFlight.maximumCount - 1] == [])
    #expect(notes[StoresInFlight.maximumCount] == ["not kept: too many images wait for the disk"])
    // A caller that needs the file waits for the disk instead.
    let item = try TestLoader.item(original: "http://a.example/file.jpg")
    let load = Task { try await test.loader.load(item) }
    store.release()
    #expect(try await load.value.path != nil)
  }
}

/// A store that commits images only when a test releases it.
private final class HeldCommits: ImageStoring {
  private final class Writer: ImageWriting {
    let writer: any ImageWriting
    let store: HeldCommits

    init(_ writer: any ImageWriting, _ store: HeldCommits) { (self.writer, self.store) = (writer, store) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) { try writer.write(bytes) }
    func makeReader() -> (any WrittenReading)? { writer.makeReader() }

    func commit(
      _ metadata: ImageMetadata,
      _ later: (@escaping @Sendable () -> Void) -> Void
    ) async throws(CacheError) -> StoredImage {
      await store.hold()
      return try await writer.commit(metadata, later)
    }

    func writeRecoveryRecord(_ metadata: ImageMetadata) { writer.writeRecoveryRecord(metadata) }
    func keepPartial(_ metadata: ImageMetadata) throws(CacheError) { try writer.keepPartial(metadata) }
    func discard() { writer.discard() }
  }

  private let store: any ImageStoring
  private let (begun, released) = (Promise<Void>(), Promise<Void>())

  init(_ store: any ImageStoring) { self.store = store }

  /// Returns when a commit has begun.
  func waitForCommit() async { _ = await begun.value() }

  func release() { released.resolve(()) }

  private func hold() async {
    begun.resolve(())
    _ = await released.value()
  }

  func makeWriter(since removals: Int) throws(CacheError) -> any ImageWriting {
    Writer(try store.makeWriter(since: removals), self)
  }

  func read(_ key: String, for request: HTTPFields?) -> (image: StoredImage, bytes: [UInt8])? {
    store.read(key, for: request)
  }
  func contains(_ keys: [String]) -> [Bool] { store.contains(keys) }
  var removals: Int { store.removals }
  func image(of key: String) -> StoredImage? { store.image(of: key) }
  func noteUse(of key: String, for request: HTTPFields, times: Int) {
    store.noteUse(of: key, for: request, times: times)
  }
  func follow(_ settings: UserSettings) { store.follow(settings) }
  func response(for key: String, to request: HTTPFields?) -> StoredResponse? {
    store.response(for: key, to: request)
  }
  func refresh(
    _ key: String,
    validating stored: StoredResponse,
    response: StoredResponse
  ) throws(CacheError) -> StoredResponse? {
    try store.refresh(key, validating: stored, response: response)
  }
  func remove(_ key: String) throws(CacheError) -> Bool { try store.remove(key) }
  func clear() throws(CacheError) { try store.clear() }
  var hasPartialDownloads: Bool { store.hasPartialDownloads }
  func partialDownload(of key: String) -> PartialDownload? { store.partialDownload(of: key) }
  func removePartialDownload(of key: String) { store.removePartialDownload(of: key) }
}
