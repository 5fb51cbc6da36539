import FeedimgPolicy
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct SituationReaderTests {
  @Test(arguments: [
    (NetworkKind.wifi, Metered.no), (.ethernet, .no), (.cellular, .yes), (.other, .unknown),
    // As the live network reports without a network.
    (.offline, .no),
  ])
  func `a network given only by name has its usual metering`(_ kind: NetworkKind, _ metered: Metered) throws {
    let reader = SituationReader(
      FactSnapshot(network: nil, settings: UserSettings()),
      overrides: try CheckedOverride.check(
        [SituationOverride(fact: "network", value: kind.rawValue, source: "--network")],
        among: .standard
      )
    )
    #expect(reader.situation(original: .remote, thumbnail: .remote, size: nil).metered == metered)
  }
}
