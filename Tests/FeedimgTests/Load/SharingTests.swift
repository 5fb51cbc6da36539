import FeedimgModel
import FeedimgPolicy
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// One transfer for all callers, with real layers.
@Suite(.timeLimit(.minutes(10))) struct SharingTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private static func waiting(_ test: TestLoader, for item: FeedItem, _ count: Int) async throws {
    let key = try #require(item.original?.url.key)
    while test.loader.resources.loads.coalescer.count(of: key) < count { await Task.yield() }
  }

  /// Behaviour 1.
  @Test func `one URL loaded as original and as thumbnail takes one request and gives two results`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let large = try TestLoader.item(server, original: "/a.jpg")
    let small = try TestLoader.item(server, thumbnail: "/a.jpg")
    async let original = test.loader.load(large)
    async let thumbnail = test.loader.load(small)
    try await Self.waiting(test, for: large, 2)
    gate.open()
    let images = try await [original, thumbnail]
    #expect(images.map(\.variant.role) == [.original, .thumbnail])
    #expect(images.allSatisfy { $0.bytes == SampleImage.jpeg })
    #expect(server.log.requests.count == 1)
  }

  /// Behaviour 4.
  @Test func `a caller that joins late receives the current progress at once`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let early = Mutex<[LoadProgress]>([])
    let first = Task { try await test.loader.load(item) { told in early.withLock { $0.append(told) } } }
    while early.withLock(\.isEmpty) { await Task.yield() }
    let late = Mutex<[LoadProgress]>([])
    let second = Task { try await test.loader.load(item) { told in late.withLock { $0.append(told) } } }
    while late.withLock(\.isEmpty) { await Task.yield() }
    let whole = ByteCount(SampleImage.jpeg.count)
    #expect(late.withLock { $0.first } == LoadProgress(received: ByteCount(100), total: whole))
    gate.open()
    #expect(try await first.value.bytes == SampleImage.jpeg)
    #expect(try await second.value.bytes == SampleImage.jpeg)
    #expect(late.withLock { $0.last } == LoadProgress(received: whole, total: whole))
    #expect(server.log.requests.count == 1)
  }

  /// Behaviour 5.
  @Test func `when a shared transfer fails, exactly one retry serves all callers`() async throws {
    let gate = Gate()
    let count = Atomic(0)
    let server = try LoopbackServer { _ in
      let isFirst = count.wrappingAdd(1, ordering: .relaxed).oldValue == 0
      return isFirst ? .held(by: gate, then: .hangUp) : Self.picture
    }
    let time = ManualTime()
    let test = try TestLoader(time: time.time, tries: 4)
    let item = try TestLoader.item(server, original: "/a.jpg")
    try await withThrowingTaskGroup(of: LoadedImage.self) { group in
      for _ in 0..<10 { group.addTask { try await test.loader.load(item) } }
      try await Self.waiting(test, for: item, 10)
      gate.open()
      await time.pass(.seconds(1), when: 1)
      for try await image in group { #expect(image.bytes == SampleImage.jpeg) }
    }
    #expect(server.log.requests.count == 2)
  }

  /// Behaviour 5.
  @Test func `when the first caller cancels, the others keep the same transfer`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let first = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 1 }
    let others = (0..<5).map { _ in Task { try await test.loader.load(item) } }
    try await Self.waiting(test, for: item, 6)
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    gate.open()
    for other in others { #expect(try await other.value.bytes == SampleImage.jpeg) }
    #expect(server.log.requests.count == 1)
    #expect(server.log.closedByClient == 0)
  }

  @Test func `file waits use a thread of their own, which resolving never starts`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = test.loader.resolve(item)
    #expect(!test.loader.resources.storage.reads.isRunning)
    _ = try await test.loader.load(item)
    #expect(test.loader.resources.storage.reads.isRunning)
  }

  @Test(.timeLimit(.minutes(10)))
  func `loads with different request fields do not share a response`() async throws {
    let gate = Gate()
    let (large, small) = (PictureOrigin.picture(1, size: 4000), PictureOrigin.picture(2, size: 1000))
    let server = try LoopbackServer { request in
      let fields = [("Content-Type", "image/jpeg"), ("Vary", "Save-Data")]
      return .held(by: gate, then: .response(200, fields, body: request["Save-Data"] == nil ? large : small))
    }
    let test = try TestLoader()
    let metered = SituationOverride(fact: "metered", value: "yes", source: "test")
    let given = try CheckedOverride.check([metered], among: .standard)
    let saver = ImageLoader(test.loader.resources, overrides: given)
    let item = try TestLoader.item(server, thumbnail: "/a.jpg")
    let loads = [test.loader, saver, test.loader, saver].map { loader in
      Task { try await loader.load(item) }
    }
    let url = try #require(item.thumbnail?.url)
    for loader in [test.loader, saver] {
      let identity = loader.identity.adapted(to: loader.resolve(item).situation, for: url)
      let key = identity.shared(url.key, adding: HTTPFields())
      while test.loader.resources.loads.coalescer.count(of: key) < 2 { await Task.yield() }
    }
    gate.open()
    var images: [[UInt8]] = []
    for load in loads { images.append(try await load.value.bytes) }
    #expect(images == [large, small, large, small])
    #expect(server.log.requests.count == 2)
  }
}
