import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Images on screen follow the network and the settings.
@Suite(.timeLimit(.minutes(10))) struct ChangingFactsTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  /// Items of another machine, so that being offline matters.
  private func item(_ name: String) throws -> FeedItem {
    try TestLoader.item(original: "http://x.example/\(name)", thumbnail: "http://x.example/\(name)-small")
  }

  @Test func `when data becomes metered an unfinished original stops and the thumbnail is shown`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer {
      $0.path == "/a" ? .stalled(SampleImage.jpeg, after: 100, until: gate) : Self.picture
    }
    let test = try TestLoader(.wifi)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a", thumbnail: "/s"))
    _ = await slot.first { $0.progress != nil }
    test.network.become(.cellular)
    // The connection of the thumbnail's load may be closed as well.
    await server.reaches { $0.closedByClient >= 1 }
    #expect(await slot.first { !$0.isLoading }?.shown == .thumbnail)
    #expect(server.log.count(of: "/a") == 1)
    gate.open()
  }

  @Test func `a load without a slot follows changes too`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.path == "/a" ? .held(by: gate, then: Self.picture) : Self.picture }
    let test = try TestLoader(.wifi)
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 1 }
    test.network.become(.cellular)
    #expect(try await load.value.variant.role == .thumbnail)
    gate.open()
  }

  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  func `a change between the decision and the load counts`(_ isWatched: Bool) async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.path == "/a" ? .held(by: gate, then: Self.picture) : Self.picture }
    let handOver = DecisionHook(deciding: .original)
    let test = try TestLoader(.wifi, observers: [handOver])
    if isWatched { await test.loader.resources.factMonitor.watch() }
    handOver.perform { [network = test.network] in network.become(.cellular) }
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    #expect(try await test.loader.load(item).variant.role == .thumbnail)
    gate.open()
  }

  @Test func `on an unmetered network a near thumbnail is upgraded too`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.cellular)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a", thumbnail: "/s"), priority: .near)
    _ = await slot.first { $0.shown == .thumbnail && !$0.isLoading }
    test.network.become(.wifi)
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  @Test func `on an unmetered network a visible thumbnail is upgraded once, and a distant one later`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.cellular)
    let (seen, unseen) = (test.loader.slot(), test.loader.slot())
    seen.show(try TestLoader.item(server, original: "/a", thumbnail: "/a-s"))
    unseen.show(try TestLoader.item(server, original: "/b", thumbnail: "/b-s"), priority: .prefetch)
    _ = await seen.first { $0.shown == .thumbnail && !$0.isLoading }
    _ = await unseen.first { $0.shown == .thumbnail && !$0.isLoading }
    test.network.become(.wifi)
    #expect(await seen.first { $0.shown == .original } != nil)
    #expect(unseen.presentation?.shown == .thumbnail)
    test.network.become(.ethernet)
    test.network.become(.wifi)
    unseen.priority = .visible
    #expect(await unseen.first { $0.shown == .original } != nil)
    #expect(server.log.count(of: "/a") == 1 && server.log.count(of: "/b") == 1)
  }

  /// With one policy that names an upgrade event and one that does not.
  @Test(.timeLimit(.minutes(10)), arguments: ["default", "metered"])
  func `a thumbnail in place of a failed original is replaced when the original loads`(
    _ policy: String
  ) async throws {
    let isBroken = BrokenOnce()
    let server = try LoopbackServer { $0.path == "/a" && isBroken.next() ? .response(500) : Self.picture }
    let test = try TestLoader(.wifi, policy: policy)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a", thumbnail: "/s"))
    let instead = await slot.first { !$0.isLoading }
    #expect(instead?.shown == .thumbnail)
    #expect(instead?.error?.status == 500, "which image failed, and why")
    test.network.become(.ethernet)
    let last = await slot.first { $0.shown == .original && !$0.isLoading }
    #expect(last?.error == nil && last?.image?.notes == [])
    #expect(server.log.requests.map(\.path) == ["/a", "/s", "/a"])
  }

  @Test func `a changed setting upgrades the images on screen`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.cellular)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a", thumbnail: "/s"))
    _ = await slot.first { $0.shown == .thumbnail && !$0.isLoading }
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  @Test func `images on screen follow a changed policy`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.cellular, followsPolicies: true)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a", thumbnail: "/s"))
    _ = await slot.first { $0.shown == .thumbnail && !$0.isLoading }
    try test.write(policy: "| network | → image |\n|---|---|\n| - | original |\n")
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  @Test func `a user can ask for the original`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(.cellular)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a", thumbnail: "/s"))
    _ = await slot.first { $0.shown == .thumbnail && !$0.isLoading }
    slot.upgrade()
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  /// Behaviour 16.
  @Test func `offline no request is sent, and waiting loads run once when the network returns`()
    async throws
  {
    let downloader = HeldDownloader(holding: { _ in false })
    let test = try TestLoader(.offline, downloader: downloader)
    let (slot, gone) = (test.loader.slot(), test.loader.slot())
    slot.show(try item("a"))
    gone.show(try item("b"))
    #expect(await slot.first { !$0.isLoading }?.shown == .placeholder)
    _ = await gone.first { !$0.isLoading }
    #expect(downloader.asked.isEmpty)
    gone.clear()
    test.network.become(.wifi)
    #expect(await slot.first { $0.shown == .original } != nil)
    #expect(downloader.asked == ["http://x.example/a"])
  }

  @Test func `a load that lost its network resumes when it returns`() async throws {
    let downloader = HeldDownloader(holding: { _ in true })
    let test = try TestLoader(.wifi, downloader: downloader)
    let slot = test.loader.slot()
    slot.show(try item("a"))
    while downloader.asked.isEmpty { await Task.yield() }
    test.network.become(.offline)
    _ = await slot.first { !$0.isLoading }
    downloader.release()
    test.network.become(.wifi)
    #expect(await slot.first { $0.shown == .original } != nil)
    #expect(downloader.asked == ["http://x.example/a", "http://x.example/a"])
  }
}
