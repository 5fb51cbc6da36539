import FeedimgModel

/// Which hosts to leave alone for a while, because they failed again and again.
///
/// After a few failures in a row nobody asks a host until a wait is over; then one load tries, and either all go on or
/// the wait doubles. A server that says how long it wants to be left alone is left alone at once. Pure: times are on
/// any clock that does not jump.
struct CircuitBreaker: Sendable {
  enum Verdict: Hashable, Sendable {
    case ask
    /// For so long nobody should, and how it failed last.
    case leaveAlone(Duration, LoadError)
  }

  private struct Record: Sendable {
    var failures = 0
    /// Nobody asks before.
    var reopensAt: Duration?
    var wait = Duration.zero
    /// Whether somebody tries, the wait being over.
    var isTrying = false
    var seen: Duration
    var error: LoadError
  }

  /// Failures in a row before a host is left alone.
  static let greatestFailures = 5
  static let firstWait = Duration.seconds(2)
  static let greatestWait = Duration.seconds(300)
  /// No server keeps us away for longer.
  static let greatestRetryAfter = Duration.seconds(3600)
  /// While somebody tries, others wait so long at most before one of them does.
  private static let trialTime = Duration.seconds(30)
  private static let greatestMemory = 512

  private var records: [String: Record] = [:]

  /// How many hosts are remembered.
  var count: Int { records.count }

  /// Whether to ask a host now; who is told to, must tell how it went.
  mutating func verdict(_ host: String, at now: Duration) -> Verdict {
    guard var record = records[host], let reopensAt = record.reopensAt else { return .ask }
    guard now >= reopensAt else { return .leaveAlone(reopensAt - now, record.error) }
    // One tries. Should it never tell, another one does after a while.
    record.isTrying = true
    record.reopensAt = now + Self.trialTime
    record.seen = now
    records[host] = record
    return .ask
  }

  /// The host answered; what it said does not matter.
  mutating func answered(_ host: String) { records[host] = nil }

  /// Nobody learned anything, as the load was cancelled: the next may try.
  mutating func gaveUp(_ host: String, at now: Duration) {
    guard records[host]?.isTrying == true else { return }
    records[host]?.isTrying = false
    records[host]?.reopensAt = now
  }

  /// The host failed; a `retryAfter` is heeded at once, and the jitter of the wait is drawn from `random`.
  mutating func failed(
    _ host: String,
    _ error: LoadError,
    at now: Duration,
    using random: inout some RandomNumberGenerator
  ) {
    if records.count >= Self.greatestMemory, records[host] == nil { makeRoom() }
    var record = records[host] ?? Record(seen: now, error: error)
    record.failures += 1
    (record.seen, record.error) = (now, error)
    if let asked = error.retryAfter {
      let wait = min(.seconds(min(asked, 1 << 32)), Self.greatestRetryAfter)
      record.reopensAt = max(record.reopensAt ?? now, now + wait)
    }
    // Those that were under way when the wait began fail as well; they are no reason to wait longer.
    let isWaiting = record.wait > .zero && !record.isTrying && now < record.reopensAt ?? .zero
    if !isWaiting, record.failures >= Self.greatestFailures || record.isTrying {
      record.wait = min(Self.greatestWait, max(Self.firstWait, record.wait * 2))
      // Drawn from the upper half, so that many that failed at once do not come back at once.
      let jitter = 0.5 + Double(random.next() >> 12) * 0x1p-53
      let reopening = now + record.wait * jitter
      let isAsked = error.retryAfter != nil
      record.reopensAt = isAsked ? max(record.reopensAt ?? reopening, reopening) : reopening
    }
    record.isTrying = false
    records[host] = record
  }

  /// Forgets everything, as on another network.
  mutating func reset() { records = [:] }

  /// Whether an error speaks against a host as a whole, and not only against one of its images.
  static func counts(_ error: LoadError) -> Bool {
    switch error.code {
    case .connection, .timeout, .unknownHost, .security: true
    // RFC 9110 §15.6, RFC 6585 §4 (429).
    case .status: error.status.map { $0 == 429 || [500, 502, 503, 504].contains($0) } ?? false
    case .truncated, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress, .notAnImage,
      .cancelled,
      .nothingToShow,
      .unavailable, .malformed:
      false
    }
  }

  /// Forgets half of the hosts, those that were seen longest ago.
  private mutating func makeRoom() {
    let middle = records.values.map(\.seen).sorted()[records.count / 2]
    records = records.filter { $0.value.seen > middle }
  }
}
