import FeedimgModel

/// Which origins to leave alone for a while, because they failed again and again.
///
/// After a few loads in a row that failed, each counted once however often it tried, nobody asks an origin until a wait
/// is over; then one load tries, and either all go on or the wait doubles. All go on as soon as its answer begins; until
/// one has come whole, the next load that fails for good makes the wait double as well. A server that says how long it
/// wants to be left alone is left alone at once. Pure: times are on any clock that does not jump.
struct CircuitBreaker: Sendable {
  enum Verdict: Hashable, Sendable {
    case ask
    /// For so long nobody should, and how it failed last.
    case leaveAlone(Duration, LoadError)
    /// Somebody tries at this moment; what comes of it shows soon.
    case awaitTrial
  }

  private struct Record: Sendable {
    var failures = 0
    /// Nobody asks before.
    var reopensAt: Duration?
    var wait = Duration.zero
    /// Until when somebody tries, the wait being over.
    var triesUntil: Duration?
    var seen: Duration
    var error: LoadError
  }

  /// Loads in a row that fail before an origin is left alone.
  static let greatestFailures = 5
  static let firstWait = Duration.seconds(2)
  static let greatestWait = Duration.seconds(300)
  /// No server keeps us away for longer.
  static let greatestRetryAfter = Duration.seconds(3600)
  /// While somebody tries, others wait so long at most before one of them does.
  private static let trialTime = Duration.seconds(30)
  private static let greatestMemory = 512

  private var records: [String: Record] = [:]

  /// How many origins are remembered.
  var count: Int { records.count }

  /// Whether to ask an origin now; who is told to, must tell how it went.
  mutating func verdict(_ origin: String, at now: Duration) -> Verdict {
    let outlook = outlook(origin, at: now)
    guard outlook == .ask, needsTrial(origin) else { return outlook }
    records[origin]?.triesUntil = now + Self.trialTime
    records[origin]?.seen = now
    return .ask
  }

  /// What ``verdict(_:at:)`` would be; nobody tries for that.
  func outlook(_ origin: String, at now: Duration) -> Verdict {
    guard let record = records[origin], let reopensAt = record.reopensAt else { return .ask }
    // Should the one who tries never tell, another one does after a while.
    if let until = record.triesUntil, now < until { return .awaitTrial }
    return now >= reopensAt ? .ask : .leaveAlone(reopensAt - now, record.error)
  }

  /// Whether an origin is or was left alone, so that one load alone is to ask it first.
  func needsTrial(_ origin: String) -> Bool { records[origin]?.reopensAt != nil }

  /// How an origin failed last; nil where it has answered since.
  func lastError(_ origin: String) -> LoadError? { records[origin]?.error }

  /// Whether an origin has been left alone for its failures and not answered since, so that nobody should insist.
  func doubts(_ origin: String) -> Bool {
    records[origin].map { $0.wait > .zero && $0.reopensAt != nil } ?? false
  }

  /// The answer of who tries begins, so that others may ask as well.
  mutating func trialAnswered(_ origin: String) {
    guard records[origin]?.triesUntil != nil else { return }
    records[origin]?.triesUntil = nil
    records[origin]?.reopensAt = nil
  }

  /// The origin answered; what it said does not matter.
  mutating func answered(_ origin: String) { records[origin] = nil }

  /// Nobody learned anything, as the load was cancelled: the next may try.
  mutating func gaveUp(_ origin: String, at now: Duration) {
    guard records[origin]?.triesUntil != nil else { return }
    records[origin]?.triesUntil = nil
    records[origin]?.reopensAt = now
  }

  /// A load failed for good; a `retryAfter` is heeded at once, and the jitter of the wait is drawn from `random`.
  mutating func failed(
    _ origin: String,
    _ error: LoadError,
    at now: Duration,
    using random: inout some RandomNumberGenerator
  ) {
    var record = noted(origin, error, at: now)
    record.failures += 1
    // Those that were under way when the wait began fail as well; they are no reason to wait longer.
    let isTrying = record.triesUntil != nil
    let isWaiting = record.wait > .zero && !isTrying && now < record.reopensAt ?? .zero
    if !isWaiting, record.failures >= Self.greatestFailures || isTrying {
      record.wait = min(Self.greatestWait, max(Self.firstWait, record.wait * 2))
      // Drawn from the upper half, so that many that failed at once do not come back at once.
      let jitter = 0.5 + Double(random.next() >> 12) * 0x1p-53
      let reopening = now + record.wait * jitter
      let isAsked = error.retryAfter != nil
      record.reopensAt = isAsked ? max(record.reopensAt ?? reopening, reopening) : reopening
    }
    record.triesUntil = nil
    records[origin] = record
  }

  /// A load failed that will try again: that counts when it has, but a `retryAfter` is heeded at once.
  mutating func failedForNow(_ origin: String, _ error: LoadError, at now: Duration) {
    records[origin]?.triesUntil = nil
    guard error.retryAfter != nil else { return }
    records[origin] = noted(origin, error, at: now)
  }

  private mutating func noted(_ origin: String, _ error: LoadError, at now: Duration) -> Record {
    if records.count >= Self.greatestMemory, records[origin] == nil { makeRoom() }
    var record = records[origin] ?? Record(seen: now, error: error)
    (record.seen, record.error) = (now, error)
    if let asked = error.retryAfter {
      let wait = min(.seconds(min(asked, 1 << 32)), Self.greatestRetryAfter)
      record.reopensAt = max(record.reopensAt ?? now, now + wait)
    }
    return record
  }

  /// Forgets everything, as on another network.
  mutating func reset() { records = [:] }

  /// Whether an error speaks against an origin as a whole, and not only against one of its images.
  static func counts(_ error: LoadError) -> Bool {
    guard !error.isOfOldPath else { return false }
    switch error.code {
    case .connection, .timeout, .unknownHost, .security: return true
    // RFC 9110 §15.6, RFC 6585 §4 (429).
    case .status: return error.status.map { $0 == 429 || [500, 502, 503, 504].contains($0) } ?? false
    case .truncated, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress, .notAnImage,
      .cancelled,
      .nothingToShow,
      .unavailable, .malformed:
      return false
    }
  }

  /// Forgets half of them, those that were seen longest ago.
  private mutating func makeRoom() {
    let middle = records.values.map(\.seen).sorted()[records.count / 2]
    records = records.filter { $0.value.seen > middle }
  }
}

extension ImageURL {
  /// Scheme, host and port, by which servers are told apart (RFC 6454 §4).
  var origin: String {
    // The key has the shape `scheme://[user@]host[:port]/…`, everything in lower case, without a default port.
    guard let start = key.firstRange(of: "://")?.upperBound else { return key }
    let authority = key[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let server = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    return String(key[..<start] + server)
  }
}
