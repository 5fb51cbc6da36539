import FeedimgCache
import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// What is on screen follows settings and tables at once, also by a table that says what events of the network it waits for.
@Suite(.timeLimit(.minutes(10))) struct ChangingRulesTests {
  private static let picture = Reply.answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private let server: LoopbackServer
  private let item: FeedItem

  init() throws {
    server = try LoopbackServer { _ in Self.picture }
    item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
  }

  /// A slot that shows a cached thumbnail, as was decided when it was bound, and does not load the original.
  private func slot(_ test: TestLoader) async throws -> ImageSlot {
    _ = try await test.loader.load(FeedItem(original: nil, thumbnail: item.thumbnail))
    // Or it would be shown before anything else is done.
    test.loader.memory.remove(try #require(item.thumbnail?.url.key))
    let slot = test.loader.slot()
    slot.show(item)
    let shown = await slot.first { !$0.isLoading }
    #expect(shown?.shown == .thumbnail)
    return slot
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("metered", "`unmetered` is waited for on the old settings alone"),
      ("roaming-aware", "and so is `wifi`"),
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

  @Test func `what the data saver held back comes when it is switched off`() async throws {
    let test = try TestLoader(.wifi, policy: "data-saver")
    _ = try await test.loader.load(FeedItem(original: nil, thumbnail: item.thumbnail))
    try test.settings.set(.dataSaver, to: "yes")
    let slot = try await slot(test)
    try test.settings.set(.dataSaver, to: "no")
    #expect(await slot.first { $0.shown == .original } != nil, "nobody need tap any more")
  }

  @Test func `a table that takes the place of another one is not bound by its events`() async throws {
    let test = try TestLoader(.cellular, followsPolicies: true)
    let head = "| network | → image | upgrade |\n|---|---|---|\n"
    try test.write(policy: "\(head)| wifi | original | never |\n| - | thumbnail | wifi |\n")
    let slot = try await slot(test)
    try test.write(policy: "\(head)| offline | cached | online |\n| - | original | never |\n")
    #expect(await slot.first { $0.shown == .original } != nil)
  }

  @Test func `a change of the network waits for the event that the table names for the old one`() async throws
  {
    let test = try TestLoader(.cellular, policy: "metered")
    test.network.become(.cellular, metered: .yes)
    let slot = try await slot(test)
    // Of no account for the decision.
    try test.settings.set(.cacheExpiryDays, to: "99")
    test.network.become(.wifi, metered: .unknown)
    let shown = await slot.first { $0.resolution?.situation.network == .wifi && !$0.isLoading }
    #expect(shown?.shown == .thumbnail && shown?.resolution?.decision.image == .original)
    test.network.become(.wifi, metered: .no)
    #expect(await slot.first { $0.shown == .original } != nil)
  }
}
