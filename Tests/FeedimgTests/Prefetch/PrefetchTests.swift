import FeedimgModel
import FeedimgSettings
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite(.timeLimit(.minutes(10))) struct PrefetchTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private func items(_ server: LoopbackServer, _ count: Int) throws -> [FeedItem] {
    try (0..<count).map { try TestLoader.item(server, original: "/\($0)") }
  }

  /// Behaviour 8.
  @Test func `a prefetch stopped at once sends no request`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    // None of its loads can run before this thread yields.
    let (isHeld, isFree) = (Gate(), Gate())
    let holding = Task(executorPreference: test.loader.resources.storage.reads) {
      isHeld.open()
      isFree.wait()
    }
    isHeld.wait()
    let prefetch = test.loader.prefetch(try items(server, 100))
    prefetch.stop()
    isFree.open()
    await holding.value
    let progress = await prefetch.finish()
    #expect(progress.done == 0)
    #expect(server.log.opened == 0)
  }

  @Test func `a prefetched image is available when a view asks for it`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let items = try items(server, 30)
    let progress = await test.loader.prefetch(items).finish()
    #expect(progress.fetched == 30 && progress.failed == 0)
    #expect(progress.received == ByteCount(30 * SampleImage.jpeg.count))
    #expect(test.loader.resolve(items).allSatisfy { $0.situation.original == .cached })
    let again = await test.loader.prefetch(items).finish()
    #expect(again.cached == 30 && again.received == ByteCount(0))
    #expect(server.log.requests.count == 30)
  }

  @Test func `stopping a prefetch stops its running loads`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let prefetch = test.loader.prefetch(try items(server, 100))
    await server.reaches { $0.requests.count >= 4 }
    prefetch.stop()
    _ = await prefetch.finish()
    await server.reaches { $0.closedByClient == $0.opened }
    #expect(server.log.requests.count == 4)
    gate.open()
  }

  @Test func `on a metered network prefetching stops, and nothing new is fetched`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let prefetch = test.loader.prefetch(try items(server, 10))
    await server.reaches { $0.requests.count == 4 }
    test.network.become(.wifi, metered: .yes)
    let progress = await prefetch.finish()
    #expect(progress.skipped == [.dataCosts: 10])
    #expect(server.log.requests.count == 4)
    gate.open()
  }

  @Test func `a prefetch that waits for a better network continues when there is one`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader()
    let prefetch = test.loader.prefetch(try items(server, 10), waitsForNetwork: true)
    await server.reaches { $0.requests.count == 4 }
    test.network.become(.wifi, metered: .yes)
    while prefetch.progress.waiting < 10 { await Task.yield() }
    #expect(prefetch.progress.done == 0)
    test.network.become(.wifi, metered: .no)
    gate.open()
    let progress = await prefetch.finish()
    #expect(progress.fetched == 10 && progress.waiting == 0 && progress.skipped == [:])
  }

  @Test func `a prefetch that waits for a network starts no load and ends when it is stopped`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    test.network.become(.wifi, metered: .yes)
    let prefetch = test.loader.prefetch(try items(server, 3), waitsForNetwork: true)
    while prefetch.progress.waiting < 3 { await Task.yield() }
    test.network.become(.ethernet, metered: .yes)
    #expect(server.log.requests.isEmpty)
    prefetch.stop()
    #expect(await prefetch.finish().done == 0)
    #expect(server.log.requests.isEmpty)
  }

  /// The reason for which an original waits for a better network.
  enum Obstacle: CaseIterable, Sendable {
    case offline
    case cellular
    /// The network goes away during the transfer.
    case lost
  }

  @Test(.timeLimit(.minutes(10)), arguments: Obstacle.allCases)
  func `an original waits for a better network although its thumbnail is cached`(
    _ obstacle: Obstacle
  ) async throws {
    let item = FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("http://x.example/a")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/s"))
    )
    let downloader = HeldDownloader(holding: { $0.url.text.hasSuffix("/a") })
    let test = try TestLoader(.cellular, downloader: downloader)
    _ = try await test.loader.load(item)
    switch obstacle {
    case .offline: test.network.become(.offline)
    case .cellular: test.network.become(.cellular, metered: .yes)
    case .lost: test.network.become(.wifi)
    }
    let prefetch = test.loader.prefetch([item], waitsForNetwork: true)
    if obstacle == .lost {
      while downloader.asked.count < 2 { await Task.yield() }
      test.network.become(.offline)
    }
    while prefetch.progress.waiting == 0, prefetch.progress.done == 0 { await Task.yield() }
    downloader.release()
    test.network.become(.wifi)
    let progress = await prefetch.finish()
    #expect(progress.fetched == 1 && progress.cached == 0)
    #expect(test.loader.resolve(item).situation.original == .cached)
  }

  @Test func `an item is skipped because of the policy if that forbids its load while it runs`()
    async throws
  {
    let begun = Promise<Void>()
    let downloader = HeldDownloader(holding: { _ in
      begun.signal()
      return true
    })
    let test = try TestLoader(downloader: downloader, policy: "wifi-only")
    let prefetch = test.loader.prefetch([try TestLoader.item(original: "http://a.example/a.jpg")])
    await begun.wait()
    test.network.become(.cellular)
    #expect(await prefetch.finish().skipped == [.policy: 1])
  }

  @Test func `a thumbnail that is not kept names its own obstacle, not the failure of the original`()
    async throws
  {
    let picture = Reply.response(200, [("Cache-Control", "no-store")], body: SampleImage.jpeg)
    let server = try LoopbackServer { $0.path == "/a" ? .response(404) : picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    var reasons: [String] = []
    let prefetch = test.loader.prefetch([item])
    for await outcome in prefetch.outcomes {
      if case .unkept(_, _, let reason) = outcome.result { reasons.append(reason) }
    }
    #expect(reasons == ["not kept: the server forbids it (`no-store`)"])
    #expect(prefetch.progress.unkept == 1)
  }

  @Test(arguments: [400, 401, 403, 404, 405, 406, 410, 451])
  func `the stored thumbnail of a refused original counts as fetched`(_ status: Int) async throws {
    let server = try LoopbackServer { $0.path == "/a" ? .response(status) : Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let progress = await test.loader.prefetch([item]).finish()
    #expect(progress.fetched == 1 && progress.failed == 0)
  }

  @Test func `a failed image does not stop the others`() async throws {
    let server = try LoopbackServer { $0.path == "/3" ? .response(404) : Self.picture }
    let test = try TestLoader()
    let prefetch = test.loader.prefetch(try items(server, 10))
    var failed: [Int] = []
    for await outcome in prefetch.outcomes {
      if case .failed(let error) = outcome.result {
        failed.append(outcome.index)
        #expect(error.status == 404)
      }
    }
    #expect(failed == [3])
    #expect(prefetch.progress.fetched == 9)
  }

  @Test func `a temporary failure of an original is reported, and its thumbnail is stored`() async throws {
    let server = try LoopbackServer { $0.path == "/a" ? .response(500) : Self.picture }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let progress = await test.loader.prefetch([item]).finish()
    #expect(progress.failed == 1 && progress.received == ByteCount(SampleImage.jpeg.count))
    #expect(test.loader.resolve(item).situation.thumbnail == .cached)
  }

  @Test func `on a metered network no idle-only thumbnail replaces an original`()
    async throws
  {
    let server = try LoopbackServer { $0.path == "/a" ? .response(500) : Self.picture }
    let test = try TestLoader(followsPolicies: true)
    try test.write(
      policy: """
        | original | → image | → priority |
        |---|---|---|
        | none | thumbnail | idle |
        | not none | original | soon |

        """
    )
    test.network.become(.wifi, metered: .yes)
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let progress = await test.loader.prefetch([item]).finish()
    #expect(progress.failed == 1)
    #expect(server.log.requests.map(\.path) == ["/a"])
    // A visible load gets it nevertheless.
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
  }

  @Test(arguments: ["now": 1, "soon": 1, "idle": 0, "-": 0])
  func `on a metered network the when column of the policy is ignored`(
    _ cell: String,
    _ count: Int
  )
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(followsPolicies: true)
    try test.write(policy: "| → image | → priority |\n|---|---|\n| original | \(cell) |\n")
    test.network.become(.wifi, metered: .yes)
    let item = try TestLoader.item(server, original: "/a", thumbnail: nil)
    let progress = await test.loader.prefetch([item]).finish()
    #expect(progress.fetched == count && progress.skipped[.dataCosts, default: 0] == 1 - count)
  }

  // MARK: The rule

  @Test(arguments: [
    (NetworkKind.wifi, Metered.no, Urgency.now, false, nil as Prefetch.Reason?, "free"),
    (.wifi, .yes, .now, false, .dataCosts, "a hotspot"),
    (.other, .unknown, .now, false, .dataCosts, "unknown metering is not unmetered"),
    (.cellular, .yes, .now, true, nil, "the table allows it"),
    (.cellular, .yes, .soon, true, nil, "likewise"),
    (.cellular, .yes, .idle, true, .dataCosts, "the table forbids it"),
    (.wifi, .no, .idle, true, nil, "an unmetered network, whatever the table says"),
    (.offline, .no, .now, false, .offline, ""),
  ])
  func `the rules for what may be prefetched`(
    network: NetworkKind,
    metered: Metered,
    urgency: Urgency,
    speaks: Bool,
    reason: Prefetch.Reason?,
    why: String
  ) {
    let situation = Situation(network: network, metered: metered, original: .remote, thumbnail: .none)
    let decision = Decision(ceiling: .original, in: situation, urgency: urgency, rule: 1)
    let verdict = PrefetchRule.verdict(decision, in: situation, setsPriority: speaks)
    #expect(verdict == reason.map { .skip($0) } ?? .load(.original), "\(why)")
  }

  @Test(arguments: [
    (
      NetworkKind.offline, Metered.no, Presence.remote, true, Prefetch.Reason.offline,
      "the original may be fetched"
    ),
    (.offline, .no, .remote, false, .cached, "nothing more will be fetched now"),
    (.offline, .no, .none, true, .cached, "there is no better image"),
    (.cellular, .yes, .remote, true, .dataCosts, "the original may be fetched on another network"),
    (.cellular, .yes, .remote, false, .cached, "nothing more will be fetched now"),
    (.wifi, .no, .remote, true, .cached, "the policy asks for no more on an unmetered network"),
  ])
  func `the next step for an item whose thumbnail is cached`(
    network: NetworkKind,
    metered: Metered,
    original: Presence,
    waits: Bool,
    reason: Prefetch.Reason,
    why: String
  ) {
    let situation = Situation(network: network, metered: metered, original: original, thumbnail: .cached)
    let decision = Decision(ceiling: .thumbnail, in: situation, rule: 1)
    let verdict = PrefetchRule.verdict(decision, in: situation, setsPriority: false, waits: waits)
    #expect(verdict == .skip(reason), "\(why)")
  }

  @Test func `the remaining time is estimated from the progress`() {
    var progress = PrefetchProgress(count: 10)
    #expect(progress.remaining == nil && progress.rate == nil)
    progress.elapsed = .seconds(4)
    progress.fetched = 4
    progress.received = ByteCount(8000)
    #expect(progress.remaining == .seconds(6))
    #expect(progress.rate == 2000)
    progress.cached = 4
    #expect(progress.remaining == .seconds(1), "half of the rest will be cached as well")
  }
}
