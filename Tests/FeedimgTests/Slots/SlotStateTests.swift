import FeedimgModel
import Testing

@testable import Feedimg

@Suite struct SlotStateTests {
  private func item(_ name: String) throws -> FeedItem {
    FeedItem(
      id: name,
      original: ImageVariant(role: .original, url: try ImageURL("http://x.example/\(name)")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/\(name)-small"))
    )
  }

  private func image(
    _ item: FeedItem,
    _ role: ImageVariant.Role,
    bytes: [UInt8] = [1]
  ) throws -> Presentation.Content {
    let situation = Situation(network: .wifi, original: .remote, thumbnail: .remote)
    let resolution = Resolution(
      item: item,
      situation: situation,
      decision: Decision(ceiling: .original, in: situation, rule: 1),
      policy: "test",
      place: "",
      why: "",
      facts: []
    )
    return .image(
      LoadedImage(
        variant: try #require(item[role]),
        source: .network,
        resolution: resolution,
        bytes: bytes,
        mediaType: "image/jpeg",
        path: nil
      )
    )
  }

  /// Behaviour 17.
  @Test func `nothing worse takes the place of something better for the same binding`() throws {
    var state = SlotState()
    let item = try item("a")
    let binding = state.bind(Presentation(item: item))
    let original = try image(item, .original)
    for (content, expected) in [
      (try image(item, .thumbnail), ShownImage.thumbnail), (original, .original),
      (try image(item, .thumbnail), .original), (.placeholder(item.placeholder), .original),
    ] {
      state.update(binding) { $0.content = content }
      #expect(state.latest?.shown == expected)
    }
    let renewed = try image(item, .original, bytes: [2])
    state.update(binding) { $0.content = renewed }
    #expect(state.latest?.image?.bytes == [2], "a new version of as good an image is none that is worse")
  }

  @Test func `whatever comes for an earlier binding is refused`() throws {
    var state = SlotState()
    let (first, second) = (try item("a"), try item("b"))
    let old = state.bind(Presentation(item: first))
    let new = state.bind(Presentation(item: second))
    let version = state.version
    let content = try image(first, .original)
    state.update(old) { $0.content = content }
    #expect(state.latest?.item.id == "b")
    #expect(state.version == version)
    #expect(state.renew(old) == nil)
    #expect(state.renew(new) != nil)
  }

  @Test func `what comes late of an attempt that is over is refused`() throws {
    var state = SlotState()
    let first = state.bind(Presentation(item: try item("a")))
    let (one, two) = (state.renew(first), state.renew(first))
    let (attempt, next) = (try #require(one), try #require(two))
    state.update(attempt) { $0.isLoading = false }
    #expect(state.latest?.isLoading == true)
    state.update(next) { $0.isLoading = false }
    #expect(state.latest?.isLoading == false)
  }

  @Test func `the same item bound again begins anew, and nothing changes where nothing is new`() throws {
    var state = SlotState()
    let item = try item("a")
    let binding = state.bind(Presentation(item: item))
    let content = try image(item, .original)
    state.update(binding) { $0.content = content }
    let version = state.version
    state.update(binding) { $0.content = content }
    #expect(state.version == version)
    _ = state.bind(Presentation(item: item))
    #expect(state.latest?.shown == .placeholder)
    state.clear()
    #expect(state.latest == nil)
    state.update(binding) { $0.content = content }
    #expect(state.latest == nil)
  }

  @Test(arguments: [
    (Upgrade.never, true, NetworkKind.wifi, Metered.no, false, "the table says never"),
    (.never, false, .wifi, .no, true, "the table says nothing at all"),
    (.online, true, .cellular, .yes, true, ""), (.online, true, .offline, .no, false, ""),
    (.wifi, true, .ethernet, .yes, true, "a cable is as good"), (.wifi, true, .cellular, .no, false, ""),
    (.unmetered, true, .wifi, .no, true, ""), (.unmetered, true, .wifi, .unknown, false, "unknown is not no"),
    (.home, true, .cellular, .yes, true, ""), (.onTap, true, .wifi, .no, false, "nobody tapped"),
  ])
  func `an upgrade waits for the event that the table names`(
    upgrade: Upgrade,
    isSpoken: Bool,
    network: NetworkKind,
    metered: Metered,
    expected: Bool,
    why: String
  ) {
    let situation = Situation(network: network, metered: metered, original: .remote, thumbnail: .cached)
    #expect(UpgradeRule.allows(upgrade, isSpoken: isSpoken, in: situation) == expected, "\(why)")
  }
}
