import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Slots with real layers.
@Suite(.timeLimit(.minutes(10))) struct ImageSlotTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  @Test func `the placeholder is shown at once, then progress, then the original`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader()
    var item = try TestLoader.item(server, original: "/a.jpg")
    item.placeholder = Placeholder(color: "#336699")
    let slot = test.loader.slot()
    #expect(slot.presentation == nil)
    slot.show(item)
    #expect(slot.presentation?.content == .placeholder(item.placeholder))
    #expect(slot.presentation?.isLoading == true)
    let partial = await slot.first { $0.progress != nil }
    #expect(partial?.progress?.received == ByteCount(100))
    #expect(partial?.shown == .placeholder)
    gate.open()
    let last = await slot.first { !$0.isLoading }
    #expect(last?.image?.bytes == SampleImage.jpeg)
    #expect(last?.progress == nil && last?.error == nil)
  }

  @Test func `late subscribers get the latest presentation at once`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a.jpg"))
    _ = await slot.first { !$0.isLoading }
    for _ in 0..<3 {
      var iterator = slot.presentations.makeAsyncIterator()
      #expect(await iterator.next()?.shown == .original)
    }
  }

  @Test func `the cached thumbnail is shown while the original loads`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.path == "/s" ? Self.picture : .held(by: gate, then: Self.picture) }
    let test = try TestLoader(.cellular, memoryLimit: ByteCount(0))
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    _ = try await test.loader.load(item)
    test.network.become(.wifi)
    let slot = test.loader.slot()
    slot.show(item)
    let meanwhile = await slot.first { $0.shown == .thumbnail }
    #expect(meanwhile?.isLoading == true)
    #expect(meanwhile?.image?.source == .disk)
    gate.open()
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  @Test func `a memory hit is shown before show returns`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await test.loader.load(item)
    let slot = test.loader.slot()
    slot.show(item)
    #expect(slot.presentation?.shown == .original)
    // The slot checks whether the image is stale only after the first binding.
    let publisher = SlotPublisher()
    _ = SlotTask(loader: test.loader, publisher: publisher, facts: [:], priority: .visible).bind(item, nil)
    #expect(publisher.latest?.shown == .original && publisher.latest?.isLoading == false)
  }

  /// Behaviour 15.
  @Test func `a view bound to another item neither shows nor loads the first`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.path == "/a" ? .held(by: gate, then: Self.picture) : Self.picture }
    let test = try TestLoader()
    let (old, new) = (
      try TestLoader.item(server, original: "/a"), try TestLoader.item(server, original: "/b")
    )
    let slot = test.loader.slot()
    slot.show(old)
    await server.reaches { $0.requests.count == 1 }
    slot.show(new)
    #expect(slot.presentation?.item == new)
    await server.reaches { $0.closedByClient == 1 }
    let shown = await slot.first { !$0.isLoading }
    #expect(shown?.item == new && shown?.shown == .original)
    gate.open()
    #expect(test.loader.resolve(old).situation.original == .remote)
    #expect(server.log.count(of: "/a") == 1)
  }

  @Test func `a cleared or released slot shows nothing and stops loading`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    var slot: ImageSlot? = test.loader.slot()
    slot?.show(try TestLoader.item(server, original: "/a"))
    await server.reaches { $0.requests.count == 1 }
    slot?.clear()
    #expect(slot?.presentation == nil)
    await server.reaches { $0.closedByClient == 1 }
    slot?.show(try TestLoader.item(server, original: "/b"))
    await server.reaches { $0.requests.count == 2 }
    let presentations = try #require(slot?.presentations)
    slot = nil
    await server.reaches { $0.closedByClient == 2 }
    for await _ in presentations {}
    gate.open()
  }

  @Test(arguments: [
    (nil as Int?, 0, "the first item of a view"), (600, 0, "the presentation was read"),
    (16, 150, "a fast fling"), (200, 300, "a slower one"), (450, 400, "the delay is a moment at most"),
  ])
  func `loads are delayed for longer than a row stays in view`(stay: Int?, pause: Int, why: String) {
    #expect(ImageSlot.pause(after: stay.map { .milliseconds($0) }) == .milliseconds(pause), "\(why)")
  }

  @Test func `rows that are scrolled past are not requested, and the row that stays is`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let slot = test.loader.slot()
    let items = try (0..<20).map { try TestLoader.item(server, original: "/\($0)") }
    slot.show(items[0])
    _ = await slot.first { !$0.isLoading }
    for item in items.dropFirst() {
      time.pass(.milliseconds(16))
      slot.show(item)
    }
    // The rows bound in between may still sleep until they notice their cancellation.
    while time.sleepers != 1 { await Task.yield() }
    #expect(server.log.requests.map(\.path) == ["/0"])
    time.pass(.milliseconds(150))
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
    #expect(server.log.requests.map(\.path) == ["/0", "/19"])
  }

  @Test func `a failure is reported beside the image that can be shown`() async throws {
    let server = try LoopbackServer { _ in .response(404) }
    let test = try TestLoader()
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"))
    let last = await slot.first { !$0.isLoading }
    #expect(last?.error?.status == 404)
    #expect(last?.shown == .placeholder)
  }

  @Test @MainActor func `on one actor no earlier image follows show`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let items = try (0..<50).map { try TestLoader.item(server, original: "/\($0)") }
    let slot = test.loader.slot()
    slot.show(items[0])
    var bound = items[0]
    let watching = Task { @MainActor in
      var seen = 0
      for await presentation in slot.presentations {
        #expect(presentation.item == bound)
        seen += 1
        if bound == items[49], !presentation.isLoading { return seen }
      }
      return seen
    }
    for item in items.dropFirst() {
      await Task.yield()
      bound = item
      slot.show(item)
    }
    #expect(await watching.value > 0)
  }
}
