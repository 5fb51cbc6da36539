import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The bytes that a prefetch spends on shared transfers, with real layers.
@Suite(.timeLimit(.minutes(10))) struct PrefetchSharingTests {
  private static let body =
    SampleImage.jpeg + [UInt8](repeating: 0, count: 270_000 - SampleImage.jpeg.count)
  private static let whole = Reply.response(200, [("Content-Type", "image/jpeg")], body: body)
  /// The bytes that arrive first.
  ///
  /// The rest is held back.
  private static let start = 100

  private func waiting(_ test: TestLoader, for item: FeedItem, _ count: Int) async throws {
    let key = try #require(item.original?.url.key)
    while test.loader.resources.loads.coalescer.count(of: key) < count { await Task.yield() }
  }

  @Test(arguments: [nil, 1.5])
  func `an image that a feed repeats is paid for once`(share: Double?) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.whole) }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let item = try TestLoader.item(server, original: "/avatar")
    let limits = share.map { Prefetch.Limits(total: ByteCount(Int($0 * Double(Self.body.count)))) }
    let prefetch = test.loader.prefetch([FeedItem](repeating: item, count: 5), limits: limits ?? .init())
    try await waiting(test, for: item, 1)
    gate.open()
    var sizes: [ByteCount] = []
    for await outcome in prefetch.outcomes {
      if case .fetched(_, let size) = outcome.result { sizes.append(size) }
    }
    #expect(sizes == [ByteCount(Self.body.count)])
    let progress = prefetch.progress
    #expect(progress.fetched == 1 && progress.cached == 4)
    #expect(progress.received == ByteCount(Self.body.count))
    #expect(server.log.requests.count == 1)
  }

  @Test func `the bytes of another caller's load cost a prefetch nothing`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.whole) }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let item = try TestLoader.item(server, original: "/a")
    let visible = Task { try await test.loader.load(item) }
    try await waiting(test, for: item, 1)
    let prefetch = test.loader.prefetch([item])
    try await waiting(test, for: item, 2)
    gate.open()
    let progress = await prefetch.finish()
    #expect(progress.cached == 1 && progress.received == ByteCount(0))
    #expect(try await visible.value.bytes.count == Self.body.count)
  }

  @Test func `a prefetch pays for the rest of a transfer when the other callers leave`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(Self.body, after: Self.start, until: gate) }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let item = try TestLoader.item(server, original: "/a")
    let come = Atomic(0)
    let visible = Task {
      try await test.loader.load(item) { come.store($0.received.bytes, ordering: .releasing) }
    }
    while come.load(ordering: .acquiring) < Self.start { await Task.yield() }
    let prefetch = test.loader.prefetch([item])
    try await waiting(test, for: item, 2)
    visible.cancel()
    await #expect(throws: LoadError.self) { try await visible.value }
    gate.open()
    let progress = await prefetch.finish()
    #expect(progress.fetched == 1 && progress.received == ByteCount(Self.body.count - Self.start))
    #expect(server.log.requests.count == 1)
  }
}
