import FeedimgJSON
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline
@testable import FeedimgService

/// The events about images: their progress, and the availability of better ones.
@Suite(.timeLimit(.minutes(10))) struct UpgradeTests {
  private static func item(_ name: String) throws -> FeedItem {
    FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("http://x.example/\(name).jpg")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/\(name)-small.jpg"))
    )
  }

  private static let situation = Situation(network: .cellular, original: .remote, thumbnail: .remote)

  @Test func `an item with its best image waits for nothing`() throws {
    var items = ShownItems()
    let (one, other) = (try Self.item("a"), try Self.item("b"))
    items.note(.thumbnail, of: one, in: Self.situation)
    items.note(.placeholder, of: other, in: Self.situation)
    #expect(items.all.map(\.image) == [.thumbnail, .placeholder])
    items.note(.original, of: one, in: Self.situation)
    #expect(items.all.map(\.item) == [other])
    items.note(.thumbnail, of: FeedItem(original: nil, thumbnail: one.thumbnail), in: Self.situation)
    #expect(items.all.map(\.item) == [other], "there is no original")
  }

  @Test func `an item is reported once, and only as it was when it was checked`() throws {
    var items = ShownItems()
    items.note(.placeholder, of: try Self.item("a"), in: Self.situation)
    let before = try #require(items.all.first)
    items.note(.thumbnail, of: try Self.item("a"), in: Self.situation)
    let isKnown = items.forget(before)
    #expect(!isKnown, "the client has another image by now")
    let now = try #require(items.all.first)
    let (first, second) = (items.forget(now), items.forget(now))
    #expect(first && !second)
  }

  @Test func `the oldest items are evicted`() throws {
    var items = ShownItems()
    for number in 0...ShownItems.maximumCount {
      items.note(.thumbnail, of: try Self.item(String(number)), in: Self.situation)
    }
    #expect(items.all.count == ShownItems.maximumCount)
    #expect(items.all.first?.item == (try Self.item("1")))
  }

  @Test(.timeLimit(.minutes(1)))
  func `progress is reported at a limited rate, with the latest state last`() async throws {
    let register = TransferRegistry()
    let work = Mutex<[@Sendable () -> Void]>([])
    let hub = EventHub(EventLog(run: "r"))
    let teller = ProgressPublisher(register, hub) { _, next in work.withLock { $0.append(next) } }
    func step() { work.withLock { $0.isEmpty ? nil : $0.removeFirst() }?() }
    var texts = hub.subscribe(after: nil).makeAsyncIterator()
    _ = await texts.next()
    teller.start()
    step()
    #expect(await texts.next()?.contains(#"{"count":0,"transfers":[]}"#) == true)
    let run = InFlightLoad(.visible)
    let variant = try #require(try Self.item("a").original)
    register.begin(run, of: variant.url, variant)
    for count in 1...100 {
      try? run.report(LoadProgress(received: ByteCount(count), total: ByteCount(100)))
      register.notify()
    }
    #expect(work.withLock { $0.count } == 1, "there is one pending report at most")
    step()
    let text = await texts.next() ?? ""
    #expect(text.contains(#""priority":"visible","received":100,"total":100"#), "\(text)")
    run.note(ByteCount(150))
    step()
    let paused = await texts.next() ?? ""
    #expect(paused.contains(#""received":150"#), "bytes before a pause count without a report: \(paused)")
    register.end(run)
    step()
    #expect(await texts.next()?.contains(#""count":0"#) == true)
    step()
    #expect(work.withLock { $0.isEmpty }, "nothing wakes while nothing is transferred")
  }

  @Test func `a decision made during a short network interruption is checked again`() async throws {
    let service = try ServiceRun(["--network=wifi"])
    var configuration = ImageLoader.Configuration(environment: ServiceRun.variables(service.root))
    configuration.overrides = [SituationOverride(fact: "network", value: "wifi", source: "the test")]
    let loader = try ImageLoader(configuration)
    let work = Mutex<[(Duration, @Sendable () -> Void)]>([])
    let hub = EventHub(EventLog(run: "r"))
    let watch = UpgradePublisher(loader, hub) { delay, next in work.withLock { $0.append((delay, next)) } }
    var texts = hub.subscribe(after: nil).makeAsyncIterator()
    _ = await texts.next()
    watch.start()
    let offline = Situation(network: .offline, original: .remote, thumbnail: .remote)
    watch.note(.placeholder, of: try Self.item("a"), in: offline, by: loader)
    watch.note(.placeholder, of: try Self.item("b"), in: offline, by: loader)
    let due = work.withLock { work in
      defer { work = [] }
      return work
    }
    #expect(due.map(\.0) == [.milliseconds(1500)], "one check for both")
    for (_, look) in due { look() }
    for name in ["a", "b"] {
      let text = await texts.next() ?? ""
      #expect(text.contains("event: upgrade") && text.contains("/\(name).jpg"), "\(text)")
    }
    watch.note(.original, of: try Self.item("a"), in: offline, by: loader)
    #expect(work.withLock { $0.isEmpty }, "there is no better image")
  }

  @Test func `an original that failed is reported after a change, and not by a second check`() async throws {
    let service = try ServiceRun(["--network=wifi"])
    var configuration = ImageLoader.Configuration(environment: ServiceRun.variables(service.root))
    configuration.overrides = [SituationOverride(fact: "network", value: "wifi", source: "the test")]
    let loader = try ImageLoader(configuration)
    let checks = Mutex(0)
    let hub = EventHub(EventLog(run: "r"))
    let watch = UpgradePublisher(loader, hub) { _, _ in checks.withLock { $0 += 1 } }
    var texts = hub.subscribe(after: nil).makeAsyncIterator()
    _ = await texts.next()
    watch.start()
    let wifi = Situation(network: .wifi, original: .remote, thumbnail: .remote)
    watch.note(.thumbnail, of: try Self.item("a"), in: wifi, isFallback: true, by: loader)
    #expect(checks.withLock { $0 } == 0, "the client would request the original again and again")
    watch.check()
    let text = await texts.next() ?? ""
    #expect(text.contains("event: upgrade") && text.contains("/a.jpg"), "\(text)")
  }

  /// Makes originals load on cellular as well.
  private static func enableOriginals(_ service: ServiceRun) throws {
    let wish = #"{"always-load-originals-on-cellular":true}"#
    _ = try service.curl("/v1/settings", "-X", "PATCH", "--json", wish)
  }

  @Test func `a reader hears of running transfers, and of better images when they become available`()
    async throws
  {
    let gate = Gate()
    let origin = try LoopbackServer { request in
      request.path == "/a.jpg"
        ? Reply([
          .send(
            Reply.head(200, [("Content-Length", String(SampleImage.jpeg.count))])
              + SampleImage.jpeg.prefix(20)
          ),
          .wait(gate), .send(Array(SampleImage.jpeg.dropFirst(20))),
        ]) : .response(body: SampleImage.jpeg)
    }
    let item =
      #"{"id":"one","originalImage":"\#(origin.url("/a.jpg"))","thumbnailImage":"\#(origin.url("/b.jpg"))"}"#
    let service = try ServiceRun(["--network=cellular"])
    let events = try service.request(["/v1/events"])
    func next(_ kind: String, _ words: String) -> String? {
      while let block = events.block() {
        if block.contains("event: \(kind)\n"), block.contains(words) { return block }
      }
      return nil
    }
    #expect(try service.curl("/v1/image", "--json", item)["Feedimg-Image"] == "thumbnail")
    try Self.enableOriginals(service)
    let upgrade = next("upgrade", #""id":"one""#)
    #expect(upgrade?.contains(#""image":"original""#) == true)
    #expect(upgrade?.contains(#""shown":"thumbnail""#) == true)
    let image = try service.request(["/v1/image", "--json", item])
    #expect(next("progress", "/a.jpg")?.contains(#""total":\#(SampleImage.jpeg.count)"#) != nil)
    gate.open()
    #expect(try CurlResponse(of: image).body == SampleImage.jpeg)
    #expect(next("progress", #""count":0"#) != nil)
  }

  @Test func `a setting takes effect although the table waits for another network`() throws {
    let origin = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let item =
      #"{"id":"one","originalImage":"\#(origin.url("/a.jpg"))","thumbnailImage":"\#(origin.url("/b.jpg"))"}"#
    let service = try ServiceRun(["--policy=metered", "--network=cellular", "--metered=yes"])
    let events = try service.request(["/v1/events"])
    // The head. Later events are reported.
    _ = events.block()
    // By a load, and from memory.
    for _ in 0..<2 {
      #expect(try service.curl("/v1/image", "--json", item)["Feedimg-Image"] == "thumbnail")
    }
    try Self.enableOriginals(service)
    var upgrade: String?
    while upgrade == nil, let block = events.block() {
      if block.contains("event: upgrade\n") { upgrade = block }
    }
    #expect(upgrade?.contains(#""image":"original""#) == true)
  }

  @Test func `a fetch by URL is reported as a running transfer too`() throws {
    let gate = Gate()
    let origin = try LoopbackServer { _ in
      Reply([.send(Reply.head(200, [("Content-Length", "4")]) + [1, 2]), .wait(gate), .send([3, 4])])
    }
    let service = try ServiceRun(["--network=wifi"])
    let events = try service.request(["/v1/events"])
    let fetch = try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(origin.url("/a"))"])
    func isReported(_ words: String) -> Bool {
      while let block = events.block() { if block.contains(words) { return true } }
      return false
    }
    #expect(isReported(#""image":null,"priority":"visible","received":2,"total":4"#))
    gate.open()
    #expect(try CurlResponse(of: fetch).body == [1, 2, 3, 4])
    #expect(isReported(#""count":0"#))
  }
}
