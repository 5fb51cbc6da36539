import FeedimgModel

/// The time limits of one transfer; libcurl handles only the connect timeout.
///
/// The caller reports each event with its time.
struct Timeouts {
  typealias Instant = SuspendingClock.Instant

  /// A time limit.
  enum Limit: Hashable {
    /// The time until the first byte of the response.
    case response(Duration)
    /// The time without any data after the response has begun.
    case stall(Duration)
    /// The time until the head is complete.
    case head(Duration)
    /// The time over which the body must arrive at ``Timeouts/minimumRate`` or faster.
    case rate(Duration)
    case total(Duration)

    /// Whether the limit means that no data arrived, so that the connection may be dead.
    var isSilence: Bool {
      switch self {
      case .response, .stall: true
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

  /// The lowest rate of a body, in bytes a second; any link that can show images is faster.
  static let minimumRate = 100

  private let request: DownloadRequest
  private let start: Instant
  private var phase = Phase.connecting
  private var lastArrival: Instant
  /// The start of the period over which ``minimumRate`` is measured.
  private var paceStart: Instant
  /// The bytes that must still arrive in this period.
  private var paceMissing = 0

  init(_ request: DownloadRequest, from start: Instant) {
    self.request = request
    self.start = start
    lastArrival = start
    paceStart = start
  }

  /// The limit that expires next, and when; nil if no limit applies now.
  var next: (limit: Limit, end: Instant)? {
    var next = request.totalTimeout.map { (Limit.total($0), start.advanced(by: $0)) }
    func consider(_ limit: (Duration) -> Limit, _ duration: Duration, from since: Instant) {
      let end = since.advanced(by: duration)
      if next.map({ end < $0.1 }) ?? true { next = (limit(duration), end) }
    }
    switch phase {
    case .connecting: break
    case .awaitingHead(let since): consider(Limit.response, request.responseTimeout, from: since)
    case .receivingHead(let since):
      consider(Limit.stall, request.stallTimeout, from: lastArrival)
      consider(Limit.head, request.paceTimeout, from: since)
    case .receivingBody:
      consider(Limit.stall, request.stallTimeout, from: lastArrival)
      if paceMissing > 0 { consider(Limit.rate, request.paceTimeout, from: paceStart) }
    }
    return next
  }

  /// The limit that has expired; nil if none has.
  func exceeded(at now: Instant) -> Limit? { next.flatMap { now >= $0.end ? $0.limit : nil } }

  mutating func connectionBegan() { phase = .connecting }

  mutating func requestSent(at now: Instant) { phase = .awaitingHead(since: now) }

  /// Records the arrival of a line of a head or trailer.
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
    if paceMissing <= 0, now >= paceStart.advanced(by: request.paceTimeout) { restartPace(at: now) }
    paceMissing -= count
  }

  private mutating func restartPace(at now: Instant) {
    paceStart = now
    // The cap keeps the conversion to `Int` safe; with a longer time, this limit never expires.
    let bytes = request.paceTimeout / .seconds(1) * Double(Self.minimumRate)
    paceMissing = Int(min(max(bytes, 0), 1e18))
  }
}

extension Duration {
  /// The duration as text, such as `10 s`, or `250 ms` for a fraction of a second.
  var words: String {
    components.attoseconds == 0 ? "\(components.seconds) s" : "\(milliseconds) ms"
  }

  /// The duration in milliseconds, rounded up and clamped to the range of `Int64`.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    guard !isTooLong else { return seconds < 0 ? .min : .max }
    let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    let (sum, isTooMuch) = whole.addingReportingOverflow(part)
    return isTooMuch ? .max : sum
  }
}
