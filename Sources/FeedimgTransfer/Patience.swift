import FeedimgModel

/// The time limits of one transfer, other than that to connect, which libcurl keeps itself.
struct Patience {
  typealias Instant = SuspendingClock.Instant

  /// A limit that was exceeded.
  enum Limit: Hashable {
    /// No byte of an answer came.
    case answer(Duration)
    /// The answer began, then nothing came.
    case stall(Duration)
    case total(Duration)
  }

  /// A hundred years: no sum with it overflows.
  private static let longest = Duration.seconds(3_155_760_000)

  private let answerTimeout: Duration
  private let stallTimeout: Duration
  private let total: (deadline: Instant, timeout: Duration)?
  /// Since when nothing has come; nil while the connection is made.
  private var silentSince: Instant?
  /// Whether the answer has begun.
  private var hasBegun = false

  init(_ request: DownloadRequest, from start: Instant) {
    answerTimeout = min(request.answerTimeout, Self.longest)
    stallTimeout = min(request.stallTimeout, Self.longest)
    total = request.totalTimeout.map { (start.advanced(by: min($0, Self.longest)), $0) }
  }

  /// When to look again; nil for never.
  var deadline: Instant? {
    guard let silence = silentSince?.advanced(by: hasBegun ? stallTimeout : answerTimeout) else {
      return total?.deadline
    }
    return total.map { min($0.deadline, silence) } ?? silence
  }

  /// Before this time no limit can run out, whatever happens.
  func earliestDeadline(at now: Instant) -> Instant {
    let next = now.advanced(by: min(answerTimeout, stallTimeout))
    return deadline.map { min($0, next) } ?? next
  }

  mutating func connectionBegan() { silentSince = nil }

  mutating func requestSent(at now: Instant) { (silentSince, hasBegun) = (now, false) }

  mutating func bytesArrived(at now: Instant) { (silentSince, hasBegun) = (now, true) }

  /// The limit that has been reached; the total one goes before.
  func exceeded(at now: Instant) -> Limit? {
    if let total, now >= total.deadline { return .total(total.timeout) }
    guard silentSince != nil, let deadline, now >= deadline else { return nil }
    return hasBegun ? .stall(stallTimeout) : .answer(answerTimeout)
  }
}
