import FeedimgModel
import Testing

@testable import FeedimgReachability

@Suite struct NetworkWatchTests {
  private static let wifi = NetworkState(kind: .wifi, metered: .no, reason: "", meteredReason: "")

  private static func at(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

  private static func expect(
    _ watch: inout NetworkWatch,
    at now: Duration,
    _ expected: NetworkWatch.Step,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let step = watch.step(at: now)
    #expect(step == expected, sourceLocation: sourceLocation)
  }

  /// A watch that has published its first state and sleeps.
  private static func sleeping() -> NetworkWatch {
    var watch = NetworkWatch(period: .seconds(60))
    Self.expect(&watch, at: at(0), .read)
    watch.observed(wifi, at: at(0))
    Self.expect(&watch, at: at(0), .publish(wifi))
    return watch
  }

  @Test func `without events it sleeps until the next check`() {
    var watch = Self.sleeping()
    Self.expect(&watch, at: Self.at(1), .sleep(until: .seconds(60), orEvent: true))
    Self.expect(&watch, at: .seconds(60), .read)
  }

  @Test func `one event leads to a reading after a pause`() {
    var watch = Self.sleeping()
    watch.received(.some, at: Self.at(5))
    Self.expect(&watch, at: Self.at(5), .sleep(until: Self.at(25), orEvent: false))
    Self.expect(&watch, at: Self.at(25), .drain)
    watch.received(.none, at: Self.at(25))
    Self.expect(&watch, at: Self.at(25), .read)
  }

  @Test func `a storm of events leads to a reading every tenth of a second`() {
    var watch = Self.sleeping()
    watch.received(.some, at: Self.at(0))
    var looks: [Int] = []
    for millisecond in 1...350 {
      switch watch.step(at: Self.at(millisecond)) {
      case .drain: watch.received(.some, at: Self.at(millisecond))
      case .read:
        looks.append(millisecond)
        watch.observed(Self.wifi, at: Self.at(millisecond))
        watch.received(.some, at: Self.at(millisecond))
      default: break
      }
    }
    #expect(looks == [101, 202, 303])
  }

  @Test func `overruns lead to growing waits, then to a reading`() {
    var watch = Self.sleeping()
    watch.received(.some, at: Self.at(0))
    var now = Self.at(20)
    for rest in [100, 200, 400, 800, 1000, 1000] {
      Self.expect(&watch, at: now, .drain)
      watch.received(.overrun, at: now)
      now += .milliseconds(rest)
      Self.expect(&watch, at: now - .milliseconds(1), .sleep(until: now, orEvent: false))
    }
    Self.expect(&watch, at: now, .drain)
    watch.received(.none, at: now)
    Self.expect(&watch, at: now, .read)
  }

  @Test func `after the computer resumes, the network is read at once`() {
    var watch = Self.sleeping()
    watch.woke(at: Self.at(500))
    Self.expect(&watch, at: Self.at(500), .read)
  }

  @Test func `a pending change shortens the sleep`() {
    var watch = Self.sleeping()
    watch.observed(.offline("no route"), at: Self.at(100))
    Self.expect(&watch, at: Self.at(100), .sleep(until: Self.at(1350), orEvent: true))
    Self.expect(&watch, at: Self.at(1350), .publish(.offline("no route")))
  }
}
