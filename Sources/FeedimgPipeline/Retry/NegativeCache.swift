import FeedimgModel

/// URLs that have no image, for a time, so that a view that comes back does not ask again (pure).
///
/// Forgotten as a whole when the network changes. Times come from a clock that never jumps.
struct NegativeCache: Sendable {
  private struct Record: Sendable {
    let error: LoadError
    let until: Duration
  }

  private static let greatestCount = 2048

  private var records: [String: Record] = [:]

  /// How many keys are remembered.
  var count: Int { records.count }

  /// Why a key has no image; nil where a request is worth it.
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

  /// Remembers a failure, if it is one that lasts.
  mutating func note(_ error: LoadError, of key: String, at now: Duration) {
    guard let time = Self.time(of: error) else { return }
    if records.count >= Self.greatestCount { makeRoom(at: now) }
    records[key] = Record(error: error, until: now + time)
  }

  /// Forgets one key, as after a success.
  mutating func forget(_ key: String) { records[key] = nil }

  /// Forgets everything, as on another network or with other settings.
  mutating func reset() { records = [:] }

  /// How long a failure is remembered; nil where another request soon may help.
  ///
  /// The response's own freshness counts first (RFC 9111 §4.2.1). Without it, a missing image is remembered longer than
  /// a possible mistake on the way, and that longer than the page of a captive portal.
  static func time(of error: LoadError) -> Duration? {
    let own: Duration? =
      switch error.code {
      case .status where error.negativeLifetime != nil:
        error.negativeLifetime.flatMap { $0 > 0 ? .seconds($0) : nil }
      case .status:
        switch error.status {
        case 404, 410, 451: .seconds(300)
        case 400, 401, 403, 405, 406: .seconds(60)
        default: nil
        }
      case .notAnImage: error.suspectsCaptivePortal ? .seconds(10) : .seconds(60)
      case .tooLarge, .tooManyRedirects, .forbiddenRedirect: .seconds(300)
      case .truncated, .unknownHost, .connection, .timeout, .security, .forbiddenAddress, .cancelled,
        .nothingToShow,
        .unavailable,
        .malformed:
        nil
      }
    guard let asked = error.retryAfter else { return own }
    return max(own ?? .zero, min(.seconds(min(asked, 1 << 32)), CircuitBreaker.greatestRetryAfter))
  }

  private mutating func makeRoom(at now: Duration) {
    records = records.filter { $0.value.until > now }
    guard records.count >= Self.greatestCount else { return }
    // Half of it at once, since a scan for each new entry would take its time.
    let middle = records.values.map(\.until).sorted()[records.count / 2]
    records = records.filter { $0.value.until > middle }
  }
}
