import Synchronization

/// The time of day, which stands still until a test moves it.
///
/// It decides about freshness and expiry. Waits, such as those between retries, take real time.
public final class ScriptedClock: Sendable {
  private let time: Mutex<Double>

  init(_ time: Double) { self.time = Mutex(time) }

  /// Seconds since 1970.
  public var now: Double { time.withLock { $0 } }

  /// Moves the clock.
  ///
  /// - Parameter duration: The time that passes.
  public func advance(by duration: Duration) { time.withLock { $0 += duration / .seconds(1) } }
}
