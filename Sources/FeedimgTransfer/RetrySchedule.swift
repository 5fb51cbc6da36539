package import FeedimgModel

/// Says whether and when a failed transfer is worth another try.
///
/// The wait doubles with each failure, and is drawn from its upper half at random, so that many that failed at once do
/// not come back at once (exponential backoff with jitter).
package struct RetrySchedule: Sendable, Hashable {
  /// What to do after a failure.
  package enum Step: Sendable, Hashable {
    case wait(Duration)
    case giveUp
  }

  /// The wait after the first failure, before it is shortened at random.
  package var firstWait: Duration
  /// No wait is drawn from more than this.
  package var greatestWait: Duration
  /// Tries in all, with the first.
  package var greatestTries: Int
  /// A server that asks for more is not asked again.
  package var greatestRetryAfter: Duration

  package init(
    firstWait: Duration = .milliseconds(500),
    greatestWait: Duration = .seconds(30),
    greatestTries: Int = 4,
    greatestRetryAfter: Duration = .seconds(60)
  ) {
    self.firstWait = firstWait
    self.greatestWait = greatestWait
    self.greatestTries = greatestTries
    self.greatestRetryAfter = greatestRetryAfter
  }

  /// Whether the same request may well succeed a little later.
  ///
  /// What the server refuses for good, such as 404, or what breaks a limit of ours does not pass by itself.
  package static func isWorthRetrying(_ error: LoadError) -> Bool {
    switch error.code {
    case .connection, .timeout, .truncated, .unknownHost: true
    // RFC 9110 §15.5.9 and §15.6, RFC 8470 §5.2 (425), RFC 6585 §4 (429).
    case .status: [408, 425, 429, 500, 502, 503, 504].contains(error.status ?? 0)
    case .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress, .notAnImage, .security,
      .cancelled, .nothingToShow, .malformed:
      false
    case .unavailable: error.isShortage
    }
  }

  /// The next step.
  ///
  /// - Parameters:
  ///   - error: How the last try failed; its `retryAfter` is the least wait.
  ///   - tries: Those made so far, at least 1.
  ///   - random: Where the jitter comes from.
  /// - Returns: A wait, or that it is of no use.
  package func step(
    after error: LoadError,
    tries: Int,
    using random: inout some RandomNumberGenerator
  ) -> Step {
    guard tries < greatestTries, Self.isWorthRetrying(error) else { return .giveUp }
    // Doubled 30 times, half a second is 17 years.
    let backoff = min(greatestWait, firstWait * (1 << min(max(tries, 1) - 1, 30)))
    let jitter = Double(random.next() >> 11) * 0x1p-53
    guard let asked = error.retryAfter else { return .wait(backoff * (0.5 + jitter / 2)) }
    // The jitter of a wait that was asked for comes on top: before it nobody is welcome.
    guard Double(asked) <= greatestRetryAfter / .seconds(1) else { return .giveUp }
    return .wait(max(.seconds(asked), backoff * 0.5) + backoff * (jitter / 2))
  }
}
