import FeedimgModel

/// The time limits of one transfer; libcurl itself keeps only the limit to connect.
///
/// A pure value: the caller tells it what happens and when.
struct Timeouts {
  typealias Instant = SuspendingClock.Instant

  /// A limit that ran out.
  enum Limit: Hashable {
    /// No byte of a response came.
    case answer(Duration)
    /// The response began, then nothing came.
    case stall(Duration)
    /// The head did not end.
    case head(Duration)
    /// The body came slower than ``Timeouts/leastRate``.
    case rate(Duration)
    case total(Duration)

    /// Whether nothing came at all, so that the connection may be dead.
    var isSilence: Bool {
      switch self {
      case .answer, .stall: true
      case .head, .rate, .total: false
      }
    }
  }

  private enum Phase {
    case connecting
    case awaitingHead(since: Instant)
    case receivingHead(since: Instant)
    case receivingBody
  }

  /// In bytes a second; less than any link brings that people look at images over.
  static let leastRate = 100

  private let responseTimeout: Duration
  private let stallTimeout: Duration
  private let paceTimeout: Duration
  private let totalTimeout: Duration?
  private let start: Instant
  private var phase = Phase.connecting
  private var lastArrival: Instant
  /// The time over which ``leastRate`` counts, from a byte of the body on.
  private var paceStart: Instant
  /// Bytes that are still to come before ``paceTimeout`` is over.
  private var paceMissing = 0

  init(_ request: DownloadRequest, from start: Instant) {
    responseTimeout = request.responseTimeout
    stallTimeout = request.stallTimeout
    paceTimeout = request.paceTimeout
    totalTimeout = request.totalTimeout
    self.start = start
    lastArrival = start
    paceStart = start
  }

  /// The limit that runs out next, and when; nil where none runs.
  var next: (limit: Limit, end: Instant)? {
    var next = totalTimeout.map { (Limit.total($0), start.advanced(by: $0)) }
    func consider(_ limit: Limit, _ duration: Duration, from since: Instant) {
      let end = since.advanced(by: duration)
      if next.map({ end < $0.1 }) ?? true { next = (limit, end) }
    }
    switch phase {
    case .connecting: break
    case .awaitingHead(let since): consider(.answer(responseTimeout), responseTimeout, from: since)
    case .receivingHead(let since):
      consider(.stall(stallTimeout), stallTimeout, from: lastArrival)
      consider(.head(paceTimeout), paceTimeout, from: since)
    case .receivingBody:
      consider(.stall(stallTimeout), stallTimeout, from: lastArrival)
      if paceMissing > 0 { consider(.rate(paceTimeout), paceTimeout, from: paceStart) }
    }
    return next
  }

  /// The limit that ran out; nil where none did.
  func exceeded(at now: Instant) -> Limit? { next.flatMap { now >= $0.end ? $0.limit : nil } }

  mutating func connectionBegan() { phase = .connecting }

  mutating func requestSent(at now: Instant) { phase = .awaitingHead(since: now) }

  /// Notes a line of a head, or of a trailer.
  mutating func lineArrived(at now: Instant) {
    lastArrival = now
    switch phase {
    case .connecting, .awaitingHead: phase = .receivingHead(since: now)
    case .receivingHead, .receivingBody: break
    }
  }

  mutating func headEnded(at now: Instant) {
    phase = .receivingBody
    restartPace(at: now)
  }

  mutating func bytesArrived(_ count: Int, at now: Instant) {
    lastArrival = now
    if paceMissing <= 0, now >= paceStart.advanced(by: paceTimeout) { restartPace(at: now) }
    paceMissing -= count
  }

  private mutating func restartPace(at now: Instant) {
    paceStart = now
    // As many as 64 bits hold: a longer time is no limit.
    let bytes = paceTimeout / .seconds(1) * Double(Self.leastRate)
    paceMissing = Int(min(max(bytes, 0), 1e18))
  }
}

extension Duration {
  /// Such as `10 s`, or `250 ms` for a fraction of a second.
  var words: String {
    components.attoseconds == 0 ? "\(components.seconds) s" : "\(milliseconds) ms"
  }

  /// Rounded up; the greatest number where it is longer.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    guard !isTooLong else { return seconds < 0 ? .min : .max }
    let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    let (sum, isTooMuch) = whole.addingReportingOverflow(part)
    return isTooMuch ? .max : sum
  }
}
