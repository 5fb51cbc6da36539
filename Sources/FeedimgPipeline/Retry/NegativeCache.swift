import FeedimgModel
import FeedimgSystem

/// Remembers for a time which requests not to send again: those that failed, and revalidations that have just ended
/// (pure).
///
/// A change of the network clears it. Times come from a monotonic clock.
struct NegativeCache: Sendable {
  enum Key: Hashable, Sendable {
    /// The request for an image; see ``RequestIdentity/failureKey(of:)``.
    case load(String)
    /// The revalidation of a cached image; see ``RevalidationRequest/loadKey``.
    case revalidation(String)
  }

  struct Record: Sendable {
    /// Nil after a revalidation that succeeded.
    let error: LoadError?
    let until: Duration
    /// The number of revalidations that have failed in a row.
    var failures = 0
  }

  /// The pause after a revalidation that sent no request or succeeded.
  static let revalidationInterval = Duration.seconds(RevalidationPlan.minimumInterval)
  /// The pauses after failed revalidations; the cached image is shown meanwhile.
  static let revalidationBackoff = Backoff(base: .seconds(30), maximum: .seconds(3600))
  private static let maximumCount = 2048

  private(set) var records: [Key: Record] = [:]

  /// The failure of a request that must not be sent again yet; nil if it may succeed.
  func error(of key: Key, at now: Duration) -> LoadError? {
    guard let record = records[key], now < record.until, var error = record.error else { return nil }
    if error.retryAfter != nil {
      error.retryAfter = Int(clamping: Int64((record.until - now) / .seconds(1) + 0.999))
    }
    return error
  }

  /// Whether a request must not be sent again yet.
  func isPaused(_ key: Key, at now: Duration) -> Bool { records[key].map { now < $0.until } ?? false }

  /// Remembers the failure of a load if it is likely to last.
  mutating func note(_ error: LoadError, ofLoad key: String, at now: Duration) {
    guard let time = Self.time(of: error) else { return }
    keep(Record(error: error, until: now + time), for: .load(key), at: now)
  }

  /// Remembers the result of a revalidation; nil if it succeeded.
  mutating func note(_ error: LoadError?, ofRevalidation key: String, at now: Duration) {
    var failures = records[.revalidation(key)]?.failures ?? 0
    let pause: Duration
    if error?.code == .cancelled {
      pause = .zero
    } else if let error, error.servers.first?.circuit == .rejected {
      pause = error.retryAfter.map { .seconds($0) } ?? Self.revalidationInterval
    } else if let error {
      failures += 1
      pause = max(Self.time(of: error) ?? .zero, Self.revalidationBackoff.ceiling(after: failures))
    } else {
      (failures, pause) = (0, Self.revalidationInterval)
    }
    let record = Record(error: error, until: now + pause, failures: failures)
    keep(record, for: .revalidation(key), at: now)
  }

  private mutating func keep(_ record: Record, for key: Key, at now: Duration) {
    if records.count >= Self.maximumCount { records = records.filter { now < $0.value.until } }
    if records.count >= Self.maximumCount { records = [:] }
    records[key] = record
  }

  /// Forgets one request, for example after a success.
  mutating func forget(_ key: Key) { records[key] = nil }

  /// Forgets all requests, for example on another network or with other settings.
  mutating func reset() { records = [:] }

  /// The time for which to remember a failure; nil if a retry may soon succeed.
  ///
  /// The freshness of the response has precedence (RFC 9111 §4.2.1). Otherwise, a missing image is remembered
  /// longest. A failure that an intermediary may have caused is forgotten sooner, and a page of a
  /// captive portal soonest.
  static func time(of error: LoadError) -> Duration? {
    let own: Duration? =
      switch (error.code, error.cause) {
      case (_, .errorResponse(let lifetime)): lifetime > 0 ? .seconds(lifetime) : nil
      case (.status, _):
        error.isFinal ? .seconds([404, 410, 451].contains(error.status) ? 300 : 60) : nil
      case (.notAnImage, .captivePortal): .seconds(10)
      case (.notAnImage, _): .seconds(60)
      case (.tooLarge, _), (.tooManyRedirects, _), (.forbiddenRedirect, _): .seconds(300)
      default: nil
      }
    guard let asked = error.retryAfter else { return own }
    return max(own ?? .zero, min(.seconds(min(asked, 1 << 32)), CircuitBreaker.maximumRetryAfter))
  }
}
