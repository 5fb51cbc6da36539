import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What a load does about failures, with real layers.
@Suite struct FailingLoadTests {
  private static let picture = Reply.answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  /// Fails hosts that are named after failures, without any network.
  private final class Failing: Downloading {
    let asked = Mutex<[String]>([])
    let isRepaired = Atomic(false)

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      asked.withLock { $0.append(request.url.text) }
      guard isRepaired.load(ordering: .relaxed) else {
        throw LoadError(.timeout, url: request.url, message: "no answer came within 20 s")
      }
      let fields = HTTPFields([.init(name: "Content-Type", value: "image/jpeg")])
      let head = ResponseHead(status: 200, fields: fields, url: request.url)
      try receiver.begin(head)
      let result = SampleImage.jpeg.withUnsafeBytes { bytes in
        Result { () throws(LoadError) in try receiver.receive(bytes) }
      }
      try result.get()
      return head
    }
  }

  private func item(_ url: String, thumbnail: String? = nil) throws -> FeedItem {
    FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL(url)),
      thumbnail: try thumbnail.map { ImageVariant(role: .thumbnail, url: try ImageURL($0)) }
    )
  }

  @Test func `what failed for a moment is tried again after a wait`() async throws {
    let count = Atomic(0)
    let server = try LoopbackServer { _ in
      count.wrappingAdd(1, ordering: .relaxed).oldValue < 2 ? .answer(503) : Self.picture
    }
    let time = ManualTime()
    let test = try TestLoader(time: time.time, tries: 4)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let load = Task { try await test.loader.load(item) }
    await time.pass(.milliseconds(500), when: 1)
    await server.reaches { $0.requests.count == 2 }
    await time.pass(.seconds(1), when: 1)
    #expect(try await load.value.bytes == SampleImage.jpeg)
    #expect(server.log.requests.count == 3)
  }

  @Test func `what is gone is not asked for again until the time is over or the network changes`()
    async throws
  {
    let server = try LoopbackServer { _ in .answer(404) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let item = try TestLoader.item(server, original: "/a.jpg")
    for _ in 0..<3 {
      let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
      #expect(error?.status == 404)
    }
    #expect(server.log.requests.count == 1)
    time.pass(.seconds(300))
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(server.log.requests.count == 2)
    test.network.become(.ethernet)
    while test.loader.failures.remembers(try #require(item.original?.url)) { await Task.yield() }
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(server.log.requests.count == 3)
  }

  @Test func `a host that fails again and again is left alone, and says so`() async throws {
    let server = try LoopbackServer { _ in .answer(500) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    for number in 0..<5 {
      let item = try TestLoader.item(server, original: "/\(number)")
      await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    }
    let last = try TestLoader.item(server, original: "/last")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(last) }
    #expect(error?.message.hasPrefix("the host failed before and is left alone for another") == true)
    #expect(server.log.requests.count == 5)
    time.pass(.seconds(2))
    await #expect(throws: LoadError.self) { try await test.loader.load(last) }
    #expect(server.log.requests.count == 6)
  }

  @Test func `a network on which nothing answers is treated like none, until something answers`() async throws
  {
    let downloader = Failing()
    let time = ManualTime()
    let test = try TestLoader(downloader: downloader, time: time.time)
    for number in 0..<4 {
      await #expect(throws: LoadError.self) {
        try await test.loader.load(item("http://h\(number % 2).example/a"))
      }
    }
    let later = try item("http://h9.example/a")
    let resolution = test.loader.resolve(later)
    #expect(resolution.situation.network == .offline)
    #expect(
      resolution.facts.first { $0.name == "network" }?.source == "connected (wifi), but nothing gets through"
    )
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(later) }
    #expect(error?.code == .nothingToShow)
    #expect(downloader.asked.withLock(\.count) == 4)
    downloader.isRepaired.store(true, ordering: .relaxed)
    time.pass(.seconds(5))
    #expect(try await test.loader.load(later).source == .network)
    #expect(test.loader.resolve(try item("http://h8.example/a")).situation.network == .wifi)
  }

  @Test func `where nothing answers the cached thumbnail is shown as offline`() async throws {
    let downloader = Failing()
    let test = try TestLoader(.cellular, downloader: downloader)
    let item = try item("http://h.example/a", thumbnail: "http://h.example/s")
    downloader.isRepaired.store(true, ordering: .relaxed)
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
    downloader.isRepaired.store(false, ordering: .relaxed)
    test.network.become(.wifi)
    let image = try await test.loader.load(item)
    #expect(image.variant.role == .thumbnail)
    #expect(image.notes == ["shown in place of the original: no answer came within 20 s"])
  }

  @Test func `a page in place of an image is said to be one, and not kept`() async throws {
    let page = Array("<!DOCTYPE html><html><body>Please sign in</body></html>".utf8)
    let server = try LoopbackServer { _ in .answer(200, [("Content-Type", "text/html")], body: page) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.suspectsCaptivePortal == true)
    #expect(
      error?.message
        == "the server sent `text/html`, which is no image known here; perhaps this network wants you to sign in first"
    )
    #expect(test.loader.resolve(item).situation.original == .remote)
  }
}
