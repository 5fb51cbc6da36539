import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Stalled hosts beside others, with libcurl and real servers.
@Suite(.timeLimit(.minutes(10))) struct StalledHostTests {
  private final class Heads: LoadObserving {
    private let count = Atomic(0)

    func observe(_ event: LoadEvent) {
      if case .responded = event.step { count.add(1, ordering: .releasing) }
    }

    func reach(_ number: Int) async {
      while count.load(ordering: .acquiring) < number { await Task.yield() }
    }
  }

  @Test(arguments: [false, true])
  func `the images of a host arrive although a stalled host has all slots`(
    _ sendsHead: Bool
  ) async throws {
    let never = Gate()
    let head = Reply.stalled(SampleImage.jpeg, after: 0, until: never)
    let late = try LoopbackServer { _ in sendsHead ? head : .held(by: never) }
    let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let good = try LoopbackServer { _ in picture }
    let time = ManualTime()
    let heads = Heads()
    let test = try TestLoader(.wifi, time: time.time, observers: [heads])
    let waiting = try (0..<12).map { number in
      let item = try TestLoader.item(late, original: "/\(number)")
      return Task { try await test.loader.load(item) }
    }
    await late.reaches { $0.requests.count >= 4 }
    if sendsHead { await heads.reach(4) }
    #expect(await test.loader.resources.transport.scheduler.limits.total == 4)
    let items = try (0..<2).map { number in
      let url = try ImageURL("http://localhost:\(good.port)/\(number)")
      return FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    }
    let loads = items.map { item in Task { try await test.loader.load(item) } }
    await time.pass(.seconds(1), when: 1)
    for load in loads { #expect(try await load.value.bytes == SampleImage.jpeg) }
    #expect(late.log.requests.count == 4, "the stalled host gets no more requests")
    for task in waiting { task.cancel() }
    for task in waiting { await #expect(throws: LoadError.self) { try await task.value } }
    while await !test.loader.resources.transport.scheduler.isIdle { await Task.yield() }
  }

  @Test func `an image arrives within seconds although ten other hosts do not respond`() async throws {
    let downloader = HeldDownloader(holding: { $0.url.host.hasPrefix("silent") })
    let time = ManualTime()
    let test = try TestLoader(.wifi, downloader: downloader, time: time.time)
    let silent = try (0..<10).map { number in
      let item = try TestLoader.item(original: "http://silent\(number).example/a")
      return Task { try await test.loader.load(item) }
    }
    while test.loader.resources.loads.coalescer.count < 10 { await Task.yield() }
    let item = try TestLoader.item(original: "http://good.example/a")
    let isLoaded = Atomic(false)
    let good = Task {
      defer { isLoaded.store(true, ordering: .releasing) }
      return try await test.loader.load(item)
    }
    while !isLoaded.load(ordering: .acquiring), time.time.now() < .seconds(60) {
      await test.loader.resources.transport.scheduler.settle()
      time.pass(.milliseconds(100))
      for _ in 0..<50 { await Task.yield() }
    }
    #expect(try await good.value.bytes == SampleImage.jpeg)
    #expect(time.time.now() < .seconds(8))
    for task in silent { task.cancel() }
    for task in silent { await #expect(throws: LoadError.self) { try await task.value } }
  }

  @Test func `a near image arrives beside a visible one whose server drips`() async throws {
    let picture = PictureOrigin.picture(1, size: 4000)
    let (drop, end) = (Gate(), Gate())
    let head = Reply.head(200, [("Content-Type", "image/jpeg"), ("Content-Length", "4000")])
    let dripping = try LoopbackServer { _ in
      Reply([
        .send(head + picture.prefix(500)), .wait(drop), .send(Array(picture[500..<900])), .wait(end),
        .send(Array(picture[900...])),
      ])
    }
    let quick = try LoopbackServer { _ in .response(200, [("Content-Type", "image/jpeg")], body: picture) }
    let time = ManualTime()
    // On a slow link, near downloads wait for visible ones.
    let test = try TestLoader(.cellular, time: time.time)
    let arrived = RecordedValues<Int>()
    let item = try TestLoader.item(dripping, thumbnail: "/v")
    let visible = Task { try await test.loader.load(item) { arrived.add($0.received.bytes) } }
    while !arrived.all.contains(500) { await Task.yield() }
    let near = try TestLoader.item(thumbnail: "http://localhost:\(quick.port)/n")
    let load = Task { try await test.loader.load(near, priority: .near) }
    while test.loader.resources.loads.coalescer.count < 2 { await Task.yield() }
    await test.loader.resources.transport.scheduler.settle()
    #expect(quick.log.requests.isEmpty)
    time.pass(.milliseconds(500))
    drop.open()
    while !arrived.all.contains(900) { await Task.yield() }
    await test.loader.resources.transport.scheduler.settle()
    await time.pass(.seconds(2), when: 1)
    #expect(try await load.value.bytes == picture)
    end.open()
    #expect(try await visible.value.bytes == picture, "it was still running")
  }
}
