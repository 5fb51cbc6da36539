import Synchronization

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
  private let time: Mutex<Double>

  init(_ time: Double = 1_800_000_000) { self.time = Mutex(time) }

  var now: Double {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  static func += (clock: TestClock, seconds: Double) { clock.time.withLock { $0 += seconds } }
}
