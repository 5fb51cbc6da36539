import FeedimgHTTPCache
import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Images on screen follow settings and policies at once, even if the policy names a network event for
/// upgrades.
@Suite(.timeLimit(.minutes(10))) struct ChangingRulesTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private let server: LoopbackServer
  private let item: FeedItem

  init() throws {
    server = try LoopbackServer { _ in Self.picture }
    item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
  }

  /// A slot that shows a cached thumbnail and does not load the original.
  private func slot(_ test: TestLoader) async throws -> ImageSlot {
    _ = try await test.loader.load(FeedItem(original: nil, thumbnail: item.thumbnail))
    // Otherwise it would be shown first.
    test.loader.resources.storage.memory.remove(try #require(item.thumbnail?.url.key))
    let slot = test.loader.slot()
    slot.show(item)
    let shown = await slot.first { !$0.isLoading }
    #expect(shown?.shown == .thumbnail)
    return slot
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("metered", "only the old settings make it wait for `unmetered`"),
      ("roaming-aware", "and for `wifi`"),
    ]
  )
  func `a setting that asks for originals need not wait for the network`(
    _ policy: String,
    _ why: String
  ) async throws {
    let test = try TestLoader(.cellular, policy: policy)
    test.network.become(.cellular, metered: .yes)
    let slot = try await slot(test)
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    #expect(await slot.first { $0.shown == .original } != nil, "\(why)")
    #expect(test.loader.resolve(item).situation.network == .cellular)
  }

  @Test func `images that the data saver held back load when it is switched off`() async throws {
    let test = try TestLoader(.wifi, policy: "data-saver")
    _ = try await test.loader.load(FeedItem(original: nil, thumbnail: item.thumbnail))
    try test.settings.set(.savesData, to: "yes")
    let slot = try await slot(test)
    try test.settings.set(.savesData, to: "no")
    #expect(await slot.first { $0.shown == .original } != nil, "no tap is needed any more")
  }

  @Test func `a new policy ignores the upgrade events of the old one`() async throws {
    let test = try TestLoader(.cellular, followsPolicies: true)
    let head = "| network | → image | upgrade |\n|---|---|---|\n"
    try test.write(policy: "\(head)| wifi | original | never |\n| - | thumbnail | wifi |\n")
    let slot = try await slot(test)
    try test.write(policy: "\(head)| offline | cached | online |\n| - | original | never |\n")
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  @Test func `a network change waits for the event that the policy named`() async throws {
    let test = try TestLoader(.cellular, policy: "metered")
    test.network.become(.cellular, metered: .yes)
    let slot = try await slot(test)
    // It does not affect the decision.
    try test.settings.set(.cacheExpiryDays, to: "99")
    test.network.become(.wifi, metered: .unknown)
    let shown = await slot.first { $0.resolution?.situation.network == .wifi && !$0.isLoading }
    #expect(shown?.shown == .thumbnail && shown?.resolution?.decision.image == .original)
    test.network.become(.wifi, metered: .no)
    #expect(await slot.first { $0.shown == .original } != nil)
  }
}
