package import FeedimgModel

/// Decides whether and when to retry a failed transfer.
package struct RetrySchedule: Sendable, Hashable {
  /// The reaction to a failed attempt.
  package enum Step: Sendable, Hashable {
    case wait(Duration)
    case giveUp
  }

  /// The waits between attempts.
  package var backoff: Backoff
  /// The most attempts, including the first.
  package var maximumTries: Int
  /// The longest `Retry-After` to respect; a transfer with a longer one is not retried.
  package var maximumRetryAfter: Duration

  package init(
    firstWait: Duration = .milliseconds(500),
    maximumWait: Duration = .seconds(30),
    maximumTries: Int = 4,
    maximumRetryAfter: Duration = .seconds(60)
  ) {
    backoff = Backoff(base: firstWait, maximum: maximumWait)
    self.maximumTries = maximumTries
    self.maximumRetryAfter = maximumRetryAfter
  }

  /// Whether the same request may succeed a little later.
  ///
  /// Permanent failures, such as status 404 or an exceeded size limit, are not retried.
  package static func isWorthRetrying(_ error: LoadError) -> Bool {
    switch error.code {
    case .connection, .timeout, .truncated, .unknownHost: true
    // RFC 9110 §15.5.9 and §15.6, RFC 8470 §5.2 (425), RFC 6585 §4 (429).
    case .status: [408, 425, 429, 500, 502, 503, 504].contains(error.status ?? 0)
    case .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress, .notAnImage, .security,
      .cancelled, .nothingToShow, .malformed, .invalidPolicy:
      false
    case .unavailable: error.retry.reason == .shortage
    }
  }

  /// Decides what to do after a failed attempt.
  ///
  /// - Parameters:
  ///   - error: The error of the last attempt; its `retryAfter` is the shortest wait.
  ///   - tries: The number of attempts so far, at least 1.
  ///   - random: The source of the jitter.
  /// - Returns: The wait before the next attempt, or to give up.
  package func step(
    after error: LoadError,
    tries: Int,
    using random: inout some RandomNumberGenerator
  ) -> Step {
    guard tries < maximumTries, Self.isWorthRetrying(error) else { return .giveUp }
    let ceiling = backoff.ceiling(after: tries)
    let wait = backoff.jittered(ceiling, using: &random)
    guard let asked = error.retryAfter else { return .wait(wait) }
    guard Double(asked) <= maximumRetryAfter / .seconds(1) else { return .giveUp }
    // Jitter only extends the wait that the server asks for, so no retry is early.
    let least = ceiling * (1 - Backoff.jitter)
    return .wait(max(.seconds(asked), least) + (wait - least))
  }
}

/// Reads `Retry-After`, the time that a server asks clients to wait (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Reads the field.
  ///
  /// A date counts from the server's own `Date`, since clocks differ. Without `Date`, it counts from `now`.
  ///
  /// - Parameters:
  ///   - fields: The fields of the response.
  ///   - now: Seconds since 1970.
  /// - Returns: Whole seconds from now, at least 0; nil if the field is absent or invalid.
  package static func seconds(_ fields: HTTPFields, now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number too large for `Int` still means a long wait.
      return text.isEmpty ? nil : Int(text) ?? .max
    }
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    let reference = fields["date"].flatMap { HTTPDate.seconds($0, now: now) } ?? now
    return max(0, date - reference)
  }
}
