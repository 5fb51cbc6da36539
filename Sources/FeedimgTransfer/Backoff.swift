/// Exponential backoff with jitter: the wait after a number of consecutive failures.
///
/// The caller counts the failures.
package struct Backoff: Sendable, Hashable {
  /// The wait after the first failure, before jitter.
  package var base: Duration
  /// The factor by which each further failure multiplies the wait; at least 1.
  package var factor: Double
  /// The longest wait, before jitter.
  package var maximum: Duration
  /// The random part of a wait, from 0 to 1.
  ///
  /// At 0.5, a wait lies between half of the ceiling and the ceiling. Jitter spreads the retries of transfers
  /// that failed at the same time.
  package var jitter: Double

  package init(
    base: Duration,
    factor: Double = 2,
    maximum: Duration,
    jitter: Double = 0.5
  ) {
    self.base = base
    self.factor = factor
    self.maximum = maximum
    self.jitter = jitter
  }

  /// The longest wait after a number of failures: the wait before jitter.
  ///
  /// - Parameter failures: The number of consecutive failures; less than 1 counts as 1.
  /// - Returns: At most ``maximum``.
  package func ceiling(after failures: Int) -> Duration {
    var wait = base
    var left = max(failures, 1) - 1
    while left > 0, wait < maximum, factor > 1, wait > .zero {
      wait = wait * factor
      left -= 1
    }
    return min(wait, maximum)
  }

  /// The wait before jitter that follows one; zero leads to ``base``.
  package func next(after wait: Duration) -> Duration { min(maximum, max(base, wait * factor)) }

  /// A wait with jitter, from `1 - jitter` times the ceiling up to the ceiling.
  package func wait(
    after failures: Int,
    using random: inout some RandomNumberGenerator
  ) -> Duration {
    jittered(ceiling(after: failures), using: &random)
  }

  /// A wait drawn from the part between `1 - jitter` times a wait and the whole of it.
  package func jittered(_ wait: Duration, using random: inout some RandomNumberGenerator) -> Duration {
    wait * (1 - jitter + jitter * Self.fraction(&random))
  }

  /// A random number from 0 to 1, excluding 1.
  static func fraction(_ random: inout some RandomNumberGenerator) -> Double {
    Double(random.next() >> 11) * 0x1p-53
  }
}
