import FeedimgModel
import Testing

@testable import Feedimg

@Suite struct BandwidthTests {
  /// Adds so many samples of a rate in Mbit/s; returns the changes of class.
  private func feed(_ meter: inout BandwidthMeter, _ rate: Double, _ count: Int) -> [BandwidthClass] {
    (0..<count).compactMap { _ in meter.add(bytes: Int(rate * 125_000), in: 1) }
  }

  /// Behaviour 20.
  @Test(arguments: [
    (3.0, 4.7, "above the bound of 4 Mbit/s, but within a fifth of it"), (5.0, 3.4, "below it, likewise"),
  ])
  func `inside the hysteresis the class does not change`(from first: Double, to next: Double, why: String) {
    var meter = BandwidthMeter()
    let start = feed(&meter, first, 1)
    #expect(feed(&meter, next, 100) == [], "\(why)")
    #expect(meter.category == start.first)
  }

  /// Behaviour 20.
  @Test func `outside of it for five samples there is one change, and none when it repeats`() {
    var meter = BandwidthMeter()
    #expect(feed(&meter, 2, 3) == [.moderate])
    // The mean needs a few samples to leave the class, then five agree.
    #expect(feed(&meter, 16, 4) == [])
    #expect(feed(&meter, 16, 50) == [.good])
    #expect(feed(&meter, 16, 50) == [])
    #expect(feed(&meter, 0.1, 100) == [.poor])
  }

  @Test func `four samples that disagree change nothing`() {
    var meter = BandwidthMeter()
    _ = feed(&meter, 2, 1)
    for _ in 0..<20 {
      #expect(feed(&meter, 60, 2) == [])
      #expect(feed(&meter, 0.6, 4) == [])
    }
    #expect(meter.category == .moderate)
  }

  @Test(arguments: [(0, 1.0), (-5, 1), (100, -1)])
  func `what is no measurement is no sample`(bytes: Int, seconds: Double) {
    var meter = BandwidthMeter()
    #expect(meter.add(bytes: bytes, in: seconds) == nil)
    #expect(meter.estimate == nil)
  }

  @Test func `bytes that took no time mean a fast link`() {
    var meter = BandwidthMeter()
    #expect(meter.add(bytes: 65_536, in: 0) == .excellent)
    #expect(meter.told != nil)
  }

  @Test func `what is told changes by a tenth at least`() {
    var meter = BandwidthMeter()
    _ = feed(&meter, 8, 1)
    #expect(meter.told == 8_000_000)
    _ = feed(&meter, 8.5, 40)
    #expect(meter.told == 8_000_000)
    _ = feed(&meter, 12, 40)
    #expect((meter.told ?? 0) > 10_000_000)
  }

  @Test func `waiting for servers is told apart from a slow link`() {
    var window = TrafficWindow()
    window.begin(at: .zero)
    window.answered(by: "h", at: .seconds(1))
    #expect(window.receive(1000, at: .seconds(1)) == nil)
    let sample = window.receive(99_000, at: .milliseconds(1500))
    #expect(sample == TrafficWindow.Sample(bytes: 100_000, seconds: 0.5, idleShare: 1 / 1.5))
    // Time in which nobody asks for anything does not count at all.
    window.end("h", wasAnswered: true, at: .milliseconds(1500))
    window.begin(at: .seconds(100))
    window.answered(by: "h", at: .seconds(100))
    #expect(window.receive(70_000, at: .seconds(101))?.idleShare == 0)
  }

  @Test func `a link that brings little is measured by time`() {
    var window = TrafficWindow()
    window.begin(at: .zero)
    window.answered(by: "h", at: .zero)
    #expect(window.receive(3000, at: .milliseconds(200)) == nil)
    #expect(window.receive(3000, at: .milliseconds(400)) != nil)
  }

  @Test(arguments: [
    (NetworkKind.wifi, nil as BandwidthClass?, 0.0, 4, 2, "nothing measured yet, probably fast"),
    (.cellular, nil, 0, 2, 0, "nothing measured yet, probably slow"),
    (.other, nil, 0, 2, 0, "likewise"),
    (.wifi, .poor, 0, 2, 0, "the measurement counts, not the word"),
    (.wifi, .moderate, 0, 2, 0, "two fill a slow link"),
    (.wifi, .moderate, 0.9, 4, 0, "a few more where it is idle"),
    (.cellular, .good, 0, 4, 2, ""),
    (.ethernet, .excellent, 0, 8, 4, ""),
    (.ethernet, .excellent, 0.5, 16, 8, "half of the time goes to waiting"),
    (.ethernet, .excellent, 1, 32, 16, "as many as are bearable"),
  ])
  func `the number of transfers follows the link`(
    network: NetworkKind,
    bandwidth: BandwidthClass?,
    idleShare: Double,
    total: Int,
    besideUrgent: Int,
    why: String
  ) {
    let limits = Adaptation(network: network, bandwidth: bandwidth, idleShare: idleShare).limits
    #expect(limits.total == total, "\(why)")
    #expect(limits.besideUrgent == besideUrgent, "\(why)")
    #expect(limits.perHost <= Adaptation.greatestPerHost)
  }

  @Test func `one sample alone does not change the number of transfers, several do`() {
    var adaptation = Adaptation(network: .ethernet, bandwidth: .excellent)
    adaptation.note(idleShare: 0.5)
    #expect(adaptation.limits.total == 8)
    for _ in 0..<3 { adaptation.note(idleShare: 0.5) }
    #expect(adaptation.limits.total > 8)
  }

  @Test func `the number of transfers does not flutter with what is idle, and follows it in the end`() {
    var adaptation = Adaptation(network: .ethernet, bandwidth: .excellent)
    func totals(_ shares: [Double]) -> Set<Int> {
      Set(
        shares.map { share in
          adaptation.note(idleShare: share)
          return adaptation.limits.total
        }
      )
    }
    // Eight that fill a busy link would be ten and a half.
    let shares = [Double](repeating: 0.238, count: 50).enumerated().map {
      $1 + ($0.isMultiple(of: 2) ? 0.04 : -0.04)
    }
    _ = totals(shares)
    #expect(totals(shares).count == 1)
    #expect(totals([Double](repeating: 0.9, count: 50)).contains(32))
    _ = totals([Double](repeating: 0, count: 50))
    #expect((8...10).contains(adaptation.limits.total))
  }
}
