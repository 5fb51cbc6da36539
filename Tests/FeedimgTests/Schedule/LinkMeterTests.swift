import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct LinkMeterTests {
  /// A meter with a manual clock.
  private struct Scene {
    var meter: LinkMeter
    var now = Duration.zero

    init(_ network: NetworkKind) { meter = LinkMeter(network: network) }

    /// One response that takes a quarter of a second, after a wait of this share of the time.
    mutating func sample(_ megabits: Double, idleShare: Double = 0) {
      meter.begin(at: now)
      now += .seconds(0.25 * idleShare / (1 - idleShare))
      meter.respond(at: now)
      now += .milliseconds(250)
      _ = meter.receive(Int(megabits * 125_000 / 4), at: now)
      meter.end(hasResponse: true, at: now)
    }
  }

  @Test func `waiting for servers does not look like a slow link`() {
    var meter = LinkMeter(network: .wifi)
    meter.begin(at: .zero)
    meter.respond(at: .seconds(1))
    _ = meter.receive(1000, at: .seconds(1))
    _ = meter.receive(99_000, at: .milliseconds(1500))
    #expect(meter.reported == 1_600_000)
  }

  @Test func `time without a request does not count`() {
    let totals = [Duration.seconds(2), .seconds(1000)].map { begin in
      var meter = LinkMeter(network: .ethernet)
      meter.begin(at: .zero)
      meter.respond(at: .zero)
      _ = meter.receive(10_000_000, at: .seconds(1))
      meter.end(hasResponse: true, at: .seconds(1))
      meter.begin(at: begin)
      meter.respond(at: begin)
      _ = meter.receive(70_000, at: begin + .seconds(1))
      return meter.reported
    }
    #expect(totals[0] != nil && totals[0] == totals[1])
  }

  @Test func `a link with little traffic is measured after a quarter of a second`() {
    var meter = LinkMeter(network: .wifi)
    meter.begin(at: .zero)
    meter.respond(at: .zero)
    _ = meter.receive(3000, at: .milliseconds(200))
    #expect(meter.reported == nil)
    _ = meter.receive(3000, at: .milliseconds(400))
    #expect(meter.reported == 120_000)
  }

  @Test func `bytes from another network do not count in the first sample`() {
    var meter = LinkMeter(network: .cellular)
    meter.begin(at: .zero)
    meter.respond(at: .seconds(5))
    _ = meter.receive(4000, at: .seconds(5))
    meter.enter(network: .wifi, at: .seconds(10))
    let hasChanged = meter.receive(125_000, at: .milliseconds(10_500))
    #expect(hasChanged)
    #expect(meter.reported == 2_000_000)
    #expect(meter.limits == TransferLimits(total: 2, perHost: 2, besideUrgent: 0))
    meter.enter(network: .ethernet, at: .seconds(11))
    #expect(meter.reported == nil)
    #expect(meter.limits.total == 4)
  }

  @Test func `a measurement names its network and the time of its last sample`() {
    let home = NetworkState(kind: .wifi, metered: .no, via: ["wlan0"], reason: "", meteredReason: "")
    var meter = LinkMeter()
    meter.enter(network: home, at: .zero)
    meter.begin(at: .zero)
    meter.respond(at: .zero)
    for second in 1...2 {
      let date = 1000 + Double(second)
      _ = meter.receive(125_000, at: .seconds(second), date: date)
      #expect(meter.measurement?.bitsPerSecond == 1_000_000 && meter.measurement?.time == date)
      #expect(meter.measurement?.network == home.pathIdentity)
    }
    // These bytes are too few for a sample.
    _ = meter.receive(1000, at: .seconds(3), date: 1003)
    #expect(meter.measurement?.time == 1002)
  }

  /// A network, its measured bandwidth in Mbit/s or nil, and the share of waiting.
  @Test(arguments: [
    (NetworkKind.wifi, nil as Double?, 0.0, 4, 2, "nothing measured yet, probably fast"),
    (.cellular, nil, 0, 2, 0, "nothing measured yet, probably slow"),
    (.other, nil, 0, 2, 0, "likewise"),
    (.wifi, 0.2, 0, 2, 0, "the measurement counts, not the kind of network"),
    (.wifi, 2, 0, 2, 0, "two downloads fill a slow link"),
    (.wifi, 2, 0.9, 4, 0, "a few more if the link is idle at times"),
    (.cellular, 10, 0, 4, 2, "four downloads fill a good link"),
    (.ethernet, 80, 0, 8, 4, "eight downloads fill an excellent link"),
    (.ethernet, 80, 0.5, 16, 8, "half of the time is waiting"),
    (.ethernet, 80, 0.99, 32, 16, "nearly all of the time is waiting"),
  ])
  func `the number of downloads follows the link`(
    network: NetworkKind,
    megabits: Double?,
    idleShare: Double,
    total: Int,
    besideUrgent: Int,
    why: String
  ) {
    var scene = Scene(network)
    if let megabits { for _ in 0..<40 { scene.sample(megabits, idleShare: idleShare) } }
    let limits = scene.meter.limits
    #expect(
      limits == TransferLimits(total: total, perHost: min(total, 8), besideUrgent: besideUrgent),
      "\(why)"
    )
  }

  @Test func `one sample with much waiting does not change the number of downloads, several do`() {
    var scene = Scene(.ethernet)
    scene.sample(80, idleShare: 0.5)
    #expect(scene.meter.limits.total == 8)
    for _ in 0..<3 { scene.sample(80, idleShare: 0.5) }
    #expect(scene.meter.limits.total > 8)
  }

  @Test func `the number of downloads is stable and follows the share of waiting in the end`() {
    var scene = Scene(.ethernet)
    func totals(_ shares: [Double]) -> Set<Int> {
      Set(
        shares.map { share in
          scene.sample(80, idleShare: share)
          return scene.meter.limits.total
        }
      )
    }
    // Eight would fill a busy link, ten and a half with this wait.
    let shares = (0..<50).map { 0.238 + ($0.isMultiple(of: 2) ? 0.04 : -0.04) }
    _ = totals(shares)
    #expect(totals(shares).count == 1)
    #expect(totals([Double](repeating: 0.9, count: 50)).contains(32))
    _ = totals([Double](repeating: 0, count: 50))
    #expect((8...10).contains(scene.meter.limits.total))
  }
}
