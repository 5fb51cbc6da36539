import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// A slot hears of all changes while it waits for a server that hangs.
@Suite(.timeLimit(.minutes(10))) struct WaitingSlotTests {
  /// Why there is a better image to load.
  enum Event: CaseIterable, Sendable {
    case dataIsCheap
    case tap
  }

  private static let original = "http://x.example/a"
  private static let thumbnail = "http://x.example/a-small"

  private let clock = TestClock()

  private func item() throws -> FeedItem {
    try TestLoader.item(original: Self.original, thumbnail: Self.thumbnail)
  }

  private func loader(
    _ kind: NetworkKind,
    _ downloader: HeldDownloader,
    observers: [any LoadObserving] = []
  ) throws -> TestLoader {
    try TestLoader(kind, downloader: downloader, clock: { [clock] in clock.now }, observers: observers)
  }

  /// A slot that shows a stale thumbnail, while its server does not respond to the revalidation.
  private func revalidatingSlot(_ test: TestLoader, _ downloader: HeldDownloader) async throws -> ImageSlot {
    _ = try await test.loader.load(try item())
    clock += 100
    let slot = test.loader.slot()
    slot.show(try item())
    _ = await slot.first { $0.shown == .thumbnail && !$0.isLoading }
    while downloader.asked.count < 2 { await Task.yield() }
    return slot
  }

  private func expectOriginal(
    upon event: Event,
    _ slot: ImageSlot,
    _ test: TestLoader,
    _ downloader: HeldDownloader
  ) async {
    switch event {
    case .dataIsCheap: test.network.become(.wifi)
    case .tap: slot.upgrade()
    }
    #expect(await slot.first { $0.shown == .original } != nil)
    #expect(downloader.asked.count { $0 == Self.original } == 1)
    downloader.release()
  }

  @Test(arguments: Event.allCases)
  func `a better image replaces a thumbnail during its revalidation`(_ event: Event) async throws {
    let downloader = HeldDownloader(holding: { $0.fields["If-None-Match"] != nil })
    let test = try loader(.cellular, downloader)
    let slot = try await revalidatingSlot(test, downloader)
    await expectOriginal(upon: event, slot, test, downloader)
  }

  @Test(arguments: Event.allCases)
  func `a better image replaces a thumbnail that must be revalidated first`(_ event: Event) async throws {
    let open = HeldDownloader.Response(fields: [
      ("Content-Type", "image/jpeg"), ("ETag", "\"1\""), ("Vary", "*"),
    ])
    let downloader = HeldDownloader(
      holding: { $0.fields["If-None-Match"] != nil },
      responding: { _ in open }
    )
    let test = try loader(.cellular, downloader)
    _ = try await test.loader.load(try item())
    clock += 100
    let slot = test.loader.slot()
    slot.show(try item())
    while downloader.asked.count < 2 { await Task.yield() }
    await expectOriginal(upon: event, slot, test, downloader)
  }

  @Test func `a new version of the shown image appears after other changes`() async throws {
    let new = HeldDownloader.Response(body: SampleImage.png, fields: [("Content-Type", "image/png")])
    let downloader = HeldDownloader(
      holding: { $0.fields["If-None-Match"] != nil },
      responding: { $0.fields["If-None-Match"] == nil ? .init() : new }
    )
    let test = try loader(.cellular, downloader)
    let slot = try await revalidatingSlot(test, downloader)
    let network = slot.presentation?.resolution?.situation.network
    #expect(network == .cellular)
    for kind in [NetworkKind.other, .cellular, .other] {
      test.network.become(kind)
      _ = await slot.first { $0.resolution?.situation.network == kind && !$0.isLoading }
    }
    downloader.release()
    #expect(await slot.first { $0.image?.bytes == SampleImage.png }?.shown == .thumbnail)
  }

  @Test func `a user who asks for the original need not wait for a thumbnail that hangs`() async throws {
    let downloader = HeldDownloader(holding: { $0.url.text == Self.thumbnail })
    let test = try loader(.cellular, downloader)
    let slot = test.loader.slot()
    slot.show(try item())
    while downloader.asked.isEmpty { await Task.yield() }
    slot.upgrade()
    #expect(await slot.first { $0.shown == .original } != nil)
    #expect(downloader.asked == [Self.thumbnail, Self.original])
    downloader.release()
  }

  @Test func `a tap between the decision and the load counts`() async throws {
    let downloader = HeldDownloader(holding: { $0.url.text == Self.thumbnail })
    let handOver = DecisionHook(deciding: .thumbnail)
    let test = try loader(.cellular, downloader, observers: [handOver])
    let slot = test.loader.slot()
    handOver.perform { slot.upgrade() }
    slot.show(try item())
    #expect(await slot.first { $0.shown == .original } != nil)
    downloader.release()
  }

  @Test func `asking for an original that is loading does not restart it`() async throws {
    let downloader = HeldDownloader(holding: { _ in true })
    let test = try loader(.wifi, downloader)
    let slot = test.loader.slot()
    slot.show(try item())
    while downloader.asked.isEmpty { await Task.yield() }
    slot.upgrade()
    downloader.release()
    #expect(await slot.first { $0.shown == .original && !$0.isLoading } != nil)
    #expect(downloader.asked == [Self.original])
  }
}
