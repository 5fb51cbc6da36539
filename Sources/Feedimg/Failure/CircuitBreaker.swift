import FeedimgModel

/// Which origins to leave alone for a while, because they failed again and again.
///
/// After a few failures in a row nobody asks an origin until a wait is over. A load counts once, with its first failure,
/// as its image may be to blame; where no answer came at all, each of its tries counts. Then one load tries, and either
/// all go on or the wait doubles. All go on as soon as its answer begins; until one has come whole, the next failure
/// makes the wait double as well. A server that says how long it wants to be left alone is left alone at once. Pure:
/// times are on any clock that does not jump.
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
    /// Until when somebody tries, the wait being over, or in spite of it.
    var triesUntil: Duration?
    /// Whether somebody has asked in spite of the wait.
    var hasInsisted = false
    var seen: Duration
    var error: LoadError
  }

  /// Failures in a row before an origin is left alone.
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
  ///
  /// One may insist in each wait: a server that answers, if with errors, may well have this image, although it had not
  /// that of who tried.
  mutating func verdict(_ origin: String, insisting: Bool = false, at now: Duration) -> Verdict {
    let outlook = outlook(origin, insisting: insisting, at: now)
    guard outlook == .ask, let reopensAt = records[origin]?.reopensAt else { return outlook }
    records[origin]?.hasInsisted = now < reopensAt
    records[origin]?.triesUntil = now + Self.trialTime
    records[origin]?.seen = now
    return .ask
  }

  /// What ``verdict(_:insisting:at:)`` would be; nobody tries for that.
  func outlook(_ origin: String, insisting: Bool = false, at now: Duration) -> Verdict {
    guard let record = records[origin], let reopensAt = record.reopensAt else { return .ask }
    // Should the one who tries never tell, another one does after a while.
    if let until = record.triesUntil, now < until { return .awaitTrial }
    let insists =
      insisting && !record.hasInsisted && record.error.status != nil && record.error.retryAfter == nil
    return now >= reopensAt || insists ? .ask : .leaveAlone(reopensAt - now, record.error)
  }

  /// Whether an origin is or was left alone, so that one load alone is to ask it first.
  func needsTrial(_ origin: String) -> Bool { records[origin]?.reopensAt != nil }

  /// When somebody may ask an origin that is left alone, or that somebody tries, at the latest; nil for all others.
  func reopening(_ origin: String) -> Duration? {
    guard let record = records[origin], let reopensAt = record.reopensAt else { return nil }
    return max(reopensAt, record.triesUntil ?? reopensAt)
  }

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
  mutating func gaveUp(_ origin: String) {
    records[origin]?.triesUntil = nil
    records[origin]?.hasInsisted = false
  }

  /// A try failed; a `retryAfter` is heeded at once, and the jitter of the wait is drawn from `random`.
  ///
  /// - Parameters:
  ///   - origin: Who was asked.
  ///   - error: How it failed.
  ///   - isTrial: Whether it is the try that others wait for.
  ///   - isAgain: Whether the same load has failed before.
  ///   - begun: When its request went out, where another origin led there; nil where it was asked itself.
  ///   - now: The time.
  ///   - random: Where the jitter comes from.
  mutating func failed(
    _ origin: String,
    _ error: LoadError,
    isTrial: Bool = false,
    isAgain: Bool = false,
    redirectedAt begun: Duration? = nil,
    at now: Duration,
    using random: inout some RandomNumberGenerator
  ) {
    let before = records[origin]
    let isTrial = isTrial && before?.triesUntil != nil
    var record = noted(origin, error, at: now)
    if isTrial { record.triesUntil = nil }
    if !isAgain || isTrial || error.status == nil { record.failures += 1 }
    // While it is left alone, only who tries at the end of the wait makes that longer: those that were under way when
    // it began fail as well, and who insists was early. Who is sent on tries as well, if only after the wait.
    let isWorse =
      if let reopensAt = before?.reopensAt, record.wait > .zero {
        now >= reopensAt && (isTrial || begun.map { $0 >= reopensAt } ?? false)
      } else {
        record.failures >= Self.greatestFailures
      }
    if isWorse {
      record.wait = min(Self.greatestWait, max(Self.firstWait, record.wait * 2))
      record.hasInsisted = false
      // Drawn from the upper half, so that many that failed at once do not come back at once.
      let jitter = 0.5 + Double(random.next() >> 12) * 0x1p-53
      let reopening = now + record.wait * jitter
      let isAsked = error.retryAfter != nil
      record.reopensAt = isAsked ? max(record.reopensAt ?? reopening, reopening) : reopening
    }
    records[origin] = record
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
    let bytes = key.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return key }
    let start = bytes.index(colon, offsetBy: 3)
    let end =
      bytes[start...].firstIndex {
        $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      } ?? bytes.endIndex
    guard let sign = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return String(key[..<end]) }
    return String(key[..<start] + key[bytes.index(after: sign)..<end])
  }
}
