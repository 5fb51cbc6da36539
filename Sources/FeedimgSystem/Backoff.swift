/// Exponential backoff with jitter: the wait after a number of consecutive failures.
///
/// The caller counts the failures. Each further failure doubles the wait. Jitter spreads the retries of transfers that
/// failed at the same time.
package struct Backoff: Sendable, Hashable {
  /// The wait after the first failure, before jitter.
  package var base: Duration
  /// The longest wait, before jitter.
  package var maximum: Duration

  /// The random part of a wait.
  package static let jitter = 0.5

  package init(base: Duration, maximum: Duration) {
    self.base = base
    self.maximum = maximum
  }

  /// The longest wait after a number of failures: the wait before jitter.
  ///
  /// - Parameter failures: The number of consecutive failures; less than 1 counts as 1.
  /// - Returns: At most ``maximum``.
  package func ceiling(after failures: Int) -> Duration {
    var wait = base
    var left = max(failures, 1) - 1
    while left > 0, wait > .zero, wait < maximum {
      wait = wait * 2
      left -= 1
    }
    return min(wait, maximum)
  }

  /// A random wait from half of a wait to the whole of it.
  package func jittered(_ wait: Duration, using random: inout some RandomNumberGenerator) -> Duration {
    let fraction = Double(random.next() >> 11) * 0x1p-53
    return wait * (1 - Self.jitter * (1 - fraction))
  }
}
