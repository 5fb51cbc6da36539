import FeedimgModel
import FeedimgTransfer

/// What is remembered of failures, and what follows from one more.
///
/// Times are on any clock that does not jump.
struct FailureTable: Sendable {
  var breaker = CircuitBreaker()
  var memory = NegativeMemory()
  var connectivity = Connectivity()
  var random = SystemRandomNumberGenerator()
  /// By origin, for who waits until one has tried whether it is well again.
  var trials: [String: TrialEnd] = [:]

  /// How long to wait before the next try, nil to give up; and whether those go on who wait for one that tries.
  mutating func wait(
    after error: LoadError,
    of url: ImageURL,
    _ isTrial: Bool,
    tries: Int?,
    _ schedule: RetrySchedule,
    at now: Duration
  ) -> (Duration?, isOver: Bool) {
    let speaksAgainstAll = CircuitBreaker.counts(error)
    // Who tries an origin that is in doubt, does so once.
    let isLast = speaksAgainstAll && isTrial && breaker.doubts(url.origin)
    if speaksAgainstAll {
      breaker.failed(url.origin, error, isTrial: isTrial, isAgain: tries ?? 1 > 1, at: now, using: &random)
    } else {
      breaker.answered(url.origin)
    }
    let isOver = isTrial || !speaksAgainstAll
    guard let tries, !isLast, case .wait(let wait) = schedule.step(after: error, tries: tries, using: &random)
    else {
      return (nil, isOver)
    }
    return (wait, isOver)
  }
}
