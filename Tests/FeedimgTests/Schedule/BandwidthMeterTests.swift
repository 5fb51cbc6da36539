import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct BandwidthMeterTests {
  /// Adds this many samples of a rate in Mbit/s and returns the changes of class.
  private func feed(_ meter: inout BandwidthMeter, _ rate: Double, _ count: Int) -> [BandwidthClass] {
    (0..<count).compactMap { _ in
      let old = meter.category
      meter.add(bytes: Int(rate * 125_000), in: 1)
      return meter.category == old ? nil : meter.category
    }
  }

  /// Behaviour 20.
  @Test(arguments: [
    (3.0, 4.7, "above the bound of 4 Mbit/s, but within a fifth of it"),
    (5.0, 3.4, "below it, within a fifth"),
  ])
  func `within the hysteresis the class does not change`(from first: Double, to next: Double, why: String) {
    var meter = BandwidthMeter()
    let start = feed(&meter, first, 1)
    #expect(feed(&meter, next, 100) == [], "\(why)")
    #expect(meter.category == start.first)
  }

  /// Behaviour 20.
  @Test func `after five samples outside the hysteresis the class changes once`() {
    var meter = BandwidthMeter()
    #expect(feed(&meter, 2, 3) == [.moderate])
    // The mean needs a few samples to leave the class. Then five samples agree.
    #expect(feed(&meter, 16, 4) == [])
    #expect(feed(&meter, 16, 50) == [.good])
    #expect(feed(&meter, 16, 50) == [])
    #expect(feed(&meter, 0.1, 100) == [.poor])
  }

  @Test func `four samples in disagreement change nothing`() {
    var meter = BandwidthMeter()
    _ = feed(&meter, 2, 1)
    for _ in 0..<20 {
      #expect(feed(&meter, 60, 2) == [])
      #expect(feed(&meter, 0.6, 4) == [])
    }
    #expect(meter.category == .moderate)
  }

  @Test(arguments: [
    (0, 1.0, "no bytes"), (-5, 1, "fewer than zero bytes"), (100, -1, "time does not run backwards"),
  ])
  func `an invalid measurement is not a sample`(bytes: Int, seconds: Double, why: String) {
    var meter = BandwidthMeter()
    meter.add(bytes: bytes, in: seconds)
    #expect(meter.category == nil && meter.reported == nil, "\(why)")
  }

  @Test func `bytes that took no time mean a fast link`() {
    var meter = BandwidthMeter()
    meter.add(bytes: 65_536, in: 0)
    #expect(meter.category == .excellent)
    #expect(meter.reported != nil)
  }

  @Test func `the reported bandwidth changes in steps of at least a tenth`() {
    var meter = BandwidthMeter()
    _ = feed(&meter, 8, 1)
    #expect(meter.reported == 8_000_000)
    _ = feed(&meter, 8.5, 40)
    #expect(meter.reported == 8_000_000)
    _ = feed(&meter, 12, 40)
    #expect((meter.reported ?? 0) > 10_000_000)
  }
}
