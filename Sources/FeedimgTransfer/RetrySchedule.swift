package import FeedimgModel

/// Decides whether and when to retry a failed transfer.
package struct RetrySchedule: Sendable, Hashable {
  /// What to do after a failure.
  package enum Step: Sendable, Hashable {
    case wait(Duration)
    case giveUp
  }

  /// The waits between attempts.
  package var backoff: Backoff
  /// Attempts in all, with the first.
  package var greatestTries: Int
  /// A server that asks for a longer wait is not retried.
  package var greatestRetryAfter: Duration

  package init(
    firstWait: Duration = .milliseconds(500),
    greatestWait: Duration = .seconds(30),
    greatestTries: Int = 4,
    greatestRetryAfter: Duration = .seconds(60)
  ) {
    backoff = Backoff(base: firstWait, greatest: greatestWait)
    self.greatestTries = greatestTries
    self.greatestRetryAfter = greatestRetryAfter
  }

  /// The wait after the first failure, before jitter.
  package var firstWait: Duration {
    get { backoff.base }
    set { backoff.base = newValue }
  }

  /// The longest wait.
  package var greatestWait: Duration {
    get { backoff.greatest }
    set { backoff.greatest = newValue }
  }

  /// Whether the same request may well succeed a little later.
  ///
  /// A lasting refusal by the server, such as 404, and an exceeded limit do not pass by themselves.
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
  ///   - error: How the last attempt failed; its `retryAfter` is the least wait.
  ///   - tries: Attempts so far, at least 1.
  ///   - random: Where the jitter comes from.
  /// - Returns: A wait, or that a retry is of no use.
  package func step(
    after error: LoadError,
    tries: Int,
    using random: inout some RandomNumberGenerator
  ) -> Step {
    guard tries < greatestTries, Self.isWorthRetrying(error) else { return .giveUp }
    let wait = backoff.wait(after: tries, using: &random)
    guard let asked = error.retryAfter else { return .wait(wait) }
    guard Double(asked) <= greatestRetryAfter / .seconds(1) else { return .giveUp }
    // The jitter comes on top of a wait that the server asks for: no retry comes before it is over.
    let least = backoff.ceiling(after: tries) * (1 - backoff.jitter)
    return .wait(max(.seconds(asked), least) + (wait - least))
  }
}

/// Reads how long a server asks clients to wait (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Reads the field.
  ///
  /// A date is relative to the server's own `Date`, as clocks differ; without one, to `now`.
  ///
  /// - Parameters:
  ///   - fields: The fields of the response.
  ///   - now: Seconds since 1970.
  /// - Returns: Whole seconds from now, never negative; nil where the field is absent or invalid.
  package static func seconds(_ fields: HTTPFields, now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // More digits than fit still mean a long time.
      return text.isEmpty ? nil : Int(text) ?? .max
    }
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    let reference = fields["date"].flatMap { HTTPDate.seconds($0, now: now) } ?? now
    return max(0, date - reference)
  }
}
