import FeedimgModel
import Testing

@testable import Feedimg

/// When the bytes of a transfer are written down, and under which network.
@Suite struct TrafficCountTests {
  static func carrier(_ kind: NetworkKind, _ metered: Metered) -> Carrier {
    Carrier(NetworkState(kind: kind, metered: metered, reason: "", meteredReason: ""))
  }

  let start = ContinuousClock.now
  let wifi = Self.carrier(.wifi, .no)
  let cellular = Self.carrier(.cellular, .yes)

  @Test func `bytes gather for two seconds, and then are due`() {
    var count = TrafficCount(over: wifi, at: start)
    #expect(count.add(10, over: wifi, at: start) == nil)
    #expect(count.add(20, over: wifi, at: start + .milliseconds(1999)) == nil)
    #expect(count.add(3, over: wifi, at: start + .seconds(2)) == .init(carrier: wifi, bytes: 33))
    #expect(count.add(4, over: wifi, at: start + .milliseconds(3999)) == nil)
    #expect(count.end() == .init(carrier: wifi, bytes: 4))
  }

  @Test func `what one network brought is due when another carries on`() {
    var count = TrafficCount(over: wifi, at: start)
    #expect(count.add(10, over: wifi, at: start) == nil)
    #expect(count.add(20, over: cellular, at: start) == .init(carrier: wifi, bytes: 10))
    #expect(count.add(30, over: cellular, at: start) == nil)
    let dear = Self.carrier(.wifi, .yes)
    #expect(
      count.add(1, over: dear, at: start) == .init(carrier: cellular, bytes: 50),
      "the price counts too"
    )
    #expect(count.end() == .init(carrier: dear, bytes: 1))
  }

  @Test func `nothing is due where nothing came`() {
    var count = TrafficCount(over: wifi, at: start)
    #expect(count.add(0, over: wifi, at: start + .seconds(9)) == nil)
    #expect(count.add(5, over: cellular, at: start + .seconds(9)) == nil)
    #expect(count.end() == .init(carrier: cellular, bytes: 5))
  }
}
