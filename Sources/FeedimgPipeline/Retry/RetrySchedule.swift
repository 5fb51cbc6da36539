package import FeedimgModel
import FeedimgSystem

/// Decides whether and when to retry a failed transfer.
package struct RetrySchedule: Sendable {
  /// The pauses between attempts.
  static let backoff = Backoff(base: .milliseconds(500), maximum: .seconds(30))
  /// The longest `Retry-After` to respect; a transfer with a longer one is not retried.
  static let maximumRetryAfter = 60

  /// The most attempts, including the first.
  let maximumTries: Int

  package init(maximumTries: Int = 4) { self.maximumTries = maximumTries }

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
  ///   - error: The error of the last attempt; its `retryAfter` is the shortest pause.
  ///   - tries: The number of attempts so far, at least 1.
  ///   - random: The source of the jitter.
  /// - Returns: The pause before the next attempt; nil to give up.
  package func pause(
    after error: LoadError,
    tries: Int,
    using random: inout some RandomNumberGenerator
  ) -> Duration? {
    guard tries < maximumTries, Self.isWorthRetrying(error) else { return nil }
    let ceiling = Self.backoff.ceiling(after: tries)
    let pause = Self.backoff.jittered(ceiling, using: &random)
    guard let asked = error.retryAfter else { return pause }
    guard asked <= Self.maximumRetryAfter else { return nil }
    // Jitter only extends the pause that the server asks for, so no retry is early.
    let least = ceiling * (1 - Backoff.jitter)
    return max(.seconds(asked), least) + (pause - least)
  }
}
