import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// A reloaded list binds each slot to the item that it already shows.
@Suite(.timeLimit(.minutes(10))) struct ReboundSlotTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  @Test func `a transfer continues when its item is bound again, however often`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let item = try TestLoader.item(server, original: "/a")
    let slot = test.loader.slot()
    slot.show(item)
    let before = await slot.first { $0.progress?.received == ByteCount(100) }
    for _ in 0..<5 {
      time.pass(.milliseconds(300))
      slot.show(item, priority: .near)
      try #require(slot.presentation == before, "none of it is discarded")
    }
    #expect(slot.priority == .near)
    gate.open()
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
    #expect(server.log.count(of: "/a") == 1 && server.log.closedByClient == 0)
  }

  @Test func `a transfer continues when its item is bound with another description of the same images`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader(time: ManualTime().time)
    var item = try TestLoader.item(server, original: "/a")
    let slot = test.loader.slot()
    slot.show(item)
    _ = await slot.first { $0.progress?.received == ByteCount(100) }
    item.id = "1"
    item.alternativeText = "a cat"
    item.page = "https://x.example/1"
    item.placeholder.color = "#ff0000"
    slot.show(item)
    #expect(slot.presentation?.item == item && slot.presentation?.progress?.received == ByteCount(100))
    #expect(slot.presentation?.content == .placeholder(item.placeholder))
    gate.open()
    let shown = await slot.first { !$0.isLoading }
    #expect(shown?.shown == .original && shown?.item == item)
    #expect(server.log.count(of: "/a") == 1 && server.log.closedByClient == 0)
    item.alternativeText = "a dog"
    slot.show(item)
    #expect(slot.presentation?.item == item && slot.presentation?.shown == .original)
    #expect(await slot.first { !$0.isLoading }?.resolution?.item == item)
  }

  @Test func `binding an item again does not prolong the delay`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"))
    _ = await slot.first { !$0.isLoading }
    time.pass(.milliseconds(100))
    let item = try TestLoader.item(server, original: "/b")
    slot.show(item)
    await time.pass(.milliseconds(100), when: 1)
    slot.show(item)
    // The rest of the delay.
    time.pass(.milliseconds(50))
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
    #expect(server.log.count(of: "/b") == 1)
  }

  @Test func `without a timer thread an item still gets its image`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let time = ManualTime()
    let sleepless = MonotonicTime(now: time.time.now) { _ in throw CancellationError() }
    let test = try TestLoader(time: sleepless)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"))
    _ = await slot.first { !$0.isLoading }
    time.pass(.milliseconds(100))
    slot.show(try TestLoader.item(server, original: "/b"))
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
    #expect(server.log.count(of: "/b") == 1)
  }

  @Test func `a shown image stays when it is bound again after its eviction from memory`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a")
    let slot = test.loader.slot()
    slot.show(item)
    let shown = await slot.first { !$0.isLoading }
    test.loader.resources.storage.memory.remove(try #require(item.original?.url.key))
    slot.show(item)
    #expect(slot.presentation?.image?.bytes == SampleImage.jpeg && shown?.shown == .original)
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
    #expect(server.log.count(of: "/a") == 1)
  }

  @Test func `a stale image that is bound again is revalidated`() async throws {
    let clock = TestClock()
    let new = HeldDownloader.Response(body: SampleImage.png, fields: [("Content-Type", "image/png")])
    let downloader = HeldDownloader(
      holding: { _ in false },
      responding: { $0.fields["If-None-Match"] == nil ? .init() : new }
    )
    let test = try TestLoader(downloader: downloader, clock: { clock.now })
    let item = FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("http://x.example/a")),
      thumbnail: nil
    )
    let slot = test.loader.slot()
    slot.show(item)
    _ = await slot.first { !$0.isLoading }
    clock += 100
    slot.show(item)
    #expect(await slot.first { $0.image?.bytes == SampleImage.png } != nil)
  }

  @Test func `a failed load restarts`() async throws {
    let isBroken = BrokenOnce()
    let server = try LoopbackServer { _ in isBroken.next() ? .response(500) : Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a")
    let slot = test.loader.slot()
    slot.show(item)
    #expect(await slot.first { !$0.isLoading }?.error?.status == 500)
    // Otherwise the failure would be remembered.
    await test.loader.resources.transport.retries.reset()
    slot.show(item)
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
  }

  @Test func `a binding that asks for pixels gets them`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(decoder: CodecDecoder())
    let item = try TestLoader.item(server, original: "/a")
    let slot = test.loader.slot()
    slot.show(item)
    _ = await slot.first { !$0.isLoading }
    slot.show(item, pixels: DecodeRequest(DisplaySize(width: 2, height: 2)))
    #expect(await slot.first { $0.pixels != nil }?.shown == .original)
    #expect(server.log.count(of: "/a") == 1)
  }
}
