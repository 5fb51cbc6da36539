import FeedimgModel

/// Remembers for a time which URLs have no image, so that a view that returns does not request them again
/// (pure).
///
/// A change of the network clears it. Times come from a monotonic clock.
struct NegativeCache: Sendable {
  struct Record: Sendable {
    let error: LoadError
    let until: Duration
  }

  private static let maximumCount = 2048

  private(set) var records: [String: Record] = [:]

  /// The reason why a key has no image; nil if a request may succeed.
  mutating func error(of key: String, at now: Duration) -> LoadError? {
    guard let record = records[key] else { return nil }
    guard now < record.until else {
      records[key] = nil
      return nil
    }
    var error = record.error
    if error.retryAfter != nil {
      error.retryAfter = Int(clamping: Int64((record.until - now) / .seconds(1) + 0.999))
    }
    return error
  }

  /// Remembers a failure if it is likely to last.
  mutating func note(_ error: LoadError, of key: String, at now: Duration) {
    guard let time = Self.time(of: error) else { return }
    if records.count >= Self.maximumCount { records = [:] }
    records[key] = Record(error: error, until: now + time)
  }

  /// Forgets one key, for example after a success.
  mutating func forget(_ key: String) { records[key] = nil }

  /// Forgets all keys, for example on another network or with other settings.
  mutating func reset() { records = [:] }

  /// The time for which to remember a failure; nil if a retry may soon succeed.
  ///
  /// The freshness of the response has precedence (RFC 9111 §4.2.1). Otherwise, a missing image is remembered
  /// longest. A failure that an intermediary may have caused is forgotten sooner, and a page of a
  /// captive portal soonest.
  static func time(of error: LoadError) -> Duration? {
    let own: Duration? =
      switch error.code {
      case .status where error.retry.lifetime != nil:
        error.retry.lifetime.flatMap { $0 > 0 ? .seconds($0) : nil }
      case .status:
        switch error.status {
        case 404, 410, 451: .seconds(300)
        case 400, 401, 403, 405, 406: .seconds(60)
        default: nil
        }
      case .notAnImage: error.suspectsCaptivePortal ? .seconds(10) : .seconds(60)
      case .tooLarge, .tooManyRedirects, .forbiddenRedirect: .seconds(300)
      default: nil
      }
    guard let asked = error.retryAfter else { return own }
    return max(own ?? .zero, min(.seconds(min(asked, 1 << 32)), CircuitBreaker.maximumRetryAfter))
  }
}
