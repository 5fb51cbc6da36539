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
    case total(Duration)

    var isSilence: Bool { if case .total = self { false } else { true } }
  }

  private enum Phase {
    case connecting
    case awaitingHead(since: Instant)
    case receiving(last: Instant)
  }

  private let request: DownloadRequest
  private let start: Instant
  private var phase = Phase.connecting

  init(_ request: DownloadRequest, from start: Instant) {
    self.request = request
    self.start = start
  }

  /// The limit that expires next, and when; nil if no limit applies now.
  var next: (limit: Limit, end: Instant)? {
    let total = request.totalTimeout.map { (Limit.total($0), start.advanced(by: $0)) }
    let own: (Limit, Instant)? =
      switch phase {
      case .connecting: nil
      case .awaitingHead(let since):
        (.response(request.responseTimeout), since.advanced(by: request.responseTimeout))
      case .receiving(let last): (.stall(request.stallTimeout), last.advanced(by: request.stallTimeout))
      }
    guard let total, let own else { return total ?? own }
    return own.1 < total.1 ? own : total
  }

  /// The limit that has expired; nil if none has.
  func exceeded(at now: Instant) -> Limit? { next.flatMap { now >= $0.end ? $0.limit : nil } }

  mutating func connectionBegan() { phase = .connecting }

  mutating func requestSent(at now: Instant) { phase = .awaitingHead(since: now) }

  /// Records the arrival of a part of the response.
  mutating func arrived(at now: Instant) { phase = .receiving(last: now) }
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
