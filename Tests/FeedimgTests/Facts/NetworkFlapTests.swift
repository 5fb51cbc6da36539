import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Short network interruptions and appearances, which listeners do not see.
@Suite(.timeLimit(.minutes(10))) struct NetworkFlapTests {
  private let time = ManualTime()
  private let downloader = HeldDownloader(holding: { $0.url.text.hasSuffix("/held") })

  private func loader(_ kind: NetworkKind) async throws -> TestLoader {
    let test = try TestLoader(kind, downloader: downloader, time: time.time)
    await test.loader.resources.factMonitor.watch()
    return test
  }

  /// Advances the clock until an image is shown.
  private func wait(
    for slot: ImageSlot,
    _ isShown: (Presentation) -> Bool
  ) async {
    while slot.presentation.map(isShown) != true {
      time.passToNext()
      await Task.yield()
    }
  }

  @Test func `a slot bound during a short interruption gets its image when the network returns`()
    async throws
  {
    let test = try await loader(.wifi)
    let slot = test.loader.slot()
    test.network.flap(.offline)
    slot.show(try TestLoader.item(original: "http://x.example/a"))
    #expect(await slot.first { !$0.isLoading }?.shown == .placeholder)
    test.network.flap(.wifi)
    await wait(for: slot) { $0.shown == .original }
    #expect(slot.presentation?.shown == .original)
    #expect(downloader.asked == ["http://x.example/a"])
  }

  @Test func `a load that began on a network that was up for a moment is decided again`() async throws {
    let test = try await loader(.cellular)
    let slot = test.loader.slot()
    test.network.flap(.wifi)
    let item = try TestLoader.item(original: "http://x.example/held", thumbnail: "http://x.example/small")
    slot.show(item)
    // No time passes yet, because a network that lasts does not count as an interruption.
    while downloader.asked.isEmpty { await Task.yield() }
    #expect(downloader.asked == ["http://x.example/held"])
    let forgotten = downloader.forgotten
    test.network.flap(.cellular)
    await wait(for: slot) { $0.shown == .thumbnail && !$0.isLoading }
    #expect(downloader.forgotten > forgotten, "the connection over the other network is not shared")
    #expect(slot.presentation?.shown == .thumbnail)
    #expect(downloader.asked == ["http://x.example/held", "http://x.example/small"])
  }

  @Test func `a network change that is reported after all is decided once`() async throws {
    let test = try await loader(.wifi)
    let slot = test.loader.slot()
    test.network.flap(.offline)
    slot.show(try TestLoader.item(original: "http://x.example/a"))
    #expect(await slot.first { !$0.isLoading }?.shown == .placeholder)
    while time.sleepers == 0 { await Task.yield() }
    test.network.flap(.wifi)
    await test.become(.offline)
    while time.sleepers > 0 {
      time.passToNext()
      await Task.yield()
    }
    #expect(downloader.asked.isEmpty)
    #expect(slot.presentation?.shown == .placeholder)
  }
}
