import FeedimgModel

/// What is known not to be had, for a time: nobody asks for it again whenever a view comes back.
///
/// Forgotten as a whole when the network changes. Pure: times are on any clock that does not jump.
struct NegativeMemory: Sendable {
  private struct Record: Sendable {
    let error: LoadError
    let until: Duration
  }

  private static let greatestMemory = 2048

  private var records: [String: Record] = [:]

  /// How many keys are remembered.
  var count: Int { records.count }

  /// Why a key cannot be had; nil where it is worth asking.
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

  /// Takes note of a failure, if it is one that lasts.
  mutating func note(_ error: LoadError, of key: String, at now: Duration) {
    guard let time = Self.time(of: error) else { return }
    if records.count >= Self.greatestMemory { makeRoom(at: now) }
    records[key] = Record(error: error, until: now + time)
  }

  /// The image was had after all.
  mutating func forget(_ key: String) { records[key] = nil }

  /// Forgets everything, as on another network or with other settings.
  mutating func reset() { records = [:] }

  /// For how long a failure is believed; nil where asking again soon may help.
  ///
  /// What the server says of it counts first (RFC 9111 §4.2.1). Without its word, what is gone stays gone longer than what
  /// may be a mistake on the way, and that longer than the page of a network that wants a login.
  static func time(of error: LoadError) -> Duration? {
    let own: Duration? =
      switch error.code {
      case .status where error.believedFor != nil:
        error.believedFor.flatMap { $0 > 0 ? .seconds($0) : nil }
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
    guard records.count >= Self.greatestMemory else { return }
    // Half of it at once, as going through all for each new one would take its time.
    let middle = records.values.map(\.until).sorted()[records.count / 2]
    records = records.filter { $0.value.until > middle }
  }
}
