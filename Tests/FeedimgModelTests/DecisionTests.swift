import FeedimgModel
import Testing

struct DecisionTests {
  typealias Expected = (image: ShownImage, source: ImageSource, show: ShownImage, load: ImageVariant.Role?)

  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var ceiling: Ceiling
    var network: NetworkKind
    var original: Presence
    var thumbnail: Presence
    var expected: Expected
  }

  static let rows = [
    Row(
      testDescription: "a cached original is never fetched",
      ceiling: .original,
      network: .wifi,
      original: .cached,
      thumbnail: .remote,
      expected: (.original, .cache, .original, nil)
    ),
    Row(
      testDescription: "while the original is fetched, a cached thumbnail is shown",
      ceiling: .original,
      network: .wifi,
      original: .remote,
      thumbnail: .cached,
      expected: (.original, .network, .thumbnail, .original)
    ),
    Row(
      testDescription: "without a cached thumbnail, the placeholder is shown",
      ceiling: .original,
      network: .cellular,
      original: .remote,
      thumbnail: .remote,
      expected: (.original, .network, .placeholder, .original)
    ),
    Row(
      testDescription: "a missing original falls back to the thumbnail",
      ceiling: .original,
      network: .wifi,
      original: .none,
      thumbnail: .remote,
      expected: (.thumbnail, .network, .placeholder, .thumbnail)
    ),
    Row(
      testDescription: "a missing thumbnail falls back to the placeholder, never to the original",
      ceiling: .thumbnail,
      network: .cellular,
      original: .cached,
      thumbnail: .none,
      expected: (.placeholder, .none, .placeholder, nil)
    ),
    Row(
      testDescription: "offline the best cached variant is shown",
      ceiling: .original,
      network: .offline,
      original: .remote,
      thumbnail: .cached,
      expected: (.thumbnail, .cache, .thumbnail, nil)
    ),
    Row(
      testDescription: "offline with an empty cache the placeholder is shown",
      ceiling: .original,
      network: .offline,
      original: .remote,
      thumbnail: .remote,
      expected: (.placeholder, .none, .placeholder, nil)
    ),
    Row(
      testDescription: "`cached` fetches nothing on any network",
      ceiling: .cached,
      network: .wifi,
      original: .remote,
      thumbnail: .cached,
      expected: (.thumbnail, .cache, .thumbnail, nil)
    ),
    Row(
      testDescription: "`placeholder` hides cached variants",
      ceiling: .placeholder,
      network: .wifi,
      original: .cached,
      thumbnail: .cached,
      expected: (.placeholder, .none, .placeholder, nil)
    ),
  ]

  @Test(arguments: rows)
  func `the laws turn a rule's outcome into a decision`(_ row: Row) {
    let situation = Situation(network: row.network, original: row.original, thumbnail: row.thumbnail)
    let decision = Decision(ceiling: row.ceiling, in: situation, upgrade: .wifi, urgency: .soon, rule: 3)
    #expect((decision.image, decision.source) == (row.expected.image, row.expected.source))
    #expect((decision.show, decision.load) == (row.expected.show, row.expected.load))
    #expect((decision.upgrade, decision.urgency, decision.rule) == (.wifi, .soon, 3))
  }

  /// Every ceiling in every situation.
  static let all = Ceiling.allCases.flatMap { ceiling in
    NetworkKind.allCases.flatMap { network in
      Presence.allCases.flatMap { original in
        Presence.allCases.map { thumbnail in
          (ceiling, Situation(network: network, original: original, thumbnail: thumbnail))
        }
      }
    }
  }

  @Test func `the laws hold for every outcome in every situation`() {
    #expect(Self.all.count == 180)
    for (ceiling, situation) in Self.all {
      let decision = Decision(ceiling: ceiling, in: situation, rule: 1)
      let place: Comment = "\(ceiling) in \(situation)"
      let mayFetch = situation.network != .offline && ceiling != .cached
      func isAvailable(_ role: ImageVariant.Role) -> Bool {
        situation[role] == .cached || (situation[role] == .remote && mayFetch)
      }
      // Ceiling: the best available variant that is permitted, and never a better one.
      let mayShowOriginal = ceiling == .original || ceiling == .cached
      let mayShowThumbnail = ceiling != .placeholder
      let best: ShownImage =
        if mayShowOriginal, isAvailable(.original) {
          .original
        } else if mayShowThumbnail, isAvailable(.thumbnail) { .thumbnail } else { .placeholder }
      #expect(decision.image == best, place)
      // Cache first; offline, nothing is fetched.
      #expect(decision.load.map { situation[$0] == .remote && mayFetch } ?? true, place)
      #expect(
        decision.load.map(ShownImage.init) == (decision.source == .network ? decision.image : nil),
        place
      )
      #expect((decision.source == .none) == (decision.image == .placeholder), place)
      #expect(
        (decision.source == .cache) == (decision.image.role.map { situation[$0] == .cached } ?? false),
        place
      )
      // The image shown meanwhile needs no fetch.
      #expect(decision.show.role.map { situation[$0] == .cached } ?? true, place)
      #expect(decision.load != nil || decision.show == decision.image, place)
    }
  }
}
