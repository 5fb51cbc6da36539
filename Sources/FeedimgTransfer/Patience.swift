import FeedimgModel

/// The time limits of one transfer, other than that to connect, which libcurl keeps itself.
struct Patience {
  /// A limit that was exceeded.
  enum Limit: Hashable {
    /// No byte of an answer came.
    case answer(Duration)
    /// The answer began, then nothing came.
    case stall(Duration)
    case total(Duration)

    /// Whether the connection may be dead: nothing came, rather than too slowly.
    var isSilence: Bool { if case .total = self { false } else { true } }
  }

  /// A hundred years, in nanoseconds: no sum with it overflows.
  private static let longest: Int64 = 3_155_760_000_000_000_000

  private let answerTimeout: Int64
  private let stallTimeout: Int64
  private let totalTimeout: Int64
  /// When ``totalTimeout`` is over; nil for never.
  private let end: Moment?
  /// Since when nothing has come; nil while the connection is made.
  private var silentSince: Moment?
  /// Whether the answer has begun.
  private var hasBegun = false

  init(_ request: DownloadRequest, from start: Moment) {
    answerTimeout = min(request.answerTimeout.nanoseconds, Self.longest)
    stallTimeout = min(request.stallTimeout.nanoseconds, Self.longest)
    totalTimeout = request.totalTimeout.map { min($0.nanoseconds, Self.longest) } ?? Self.longest
    end = request.totalTimeout == nil ? nil : start.advanced(byNanoseconds: totalTimeout)
  }

  /// When to look again; nil for never.
  var deadline: Moment? {
    guard let silentSince else { return end }
    let silence = silentSince.advanced(byNanoseconds: hasBegun ? stallTimeout : answerTimeout)
    return end.map { min($0, silence) } ?? silence
  }

  /// Before this time no limit can run out, whatever happens.
  func earliestDeadline(at now: Moment) -> Moment {
    let next = now.advanced(byNanoseconds: min(answerTimeout, stallTimeout))
    return deadline.map { min($0, next) } ?? next
  }

  mutating func connectionBegan() { silentSince = nil }

  mutating func requestSent(at now: Moment) { (silentSince, hasBegun) = (now, false) }

  mutating func bytesArrived(at now: Moment) { (silentSince, hasBegun) = (now, true) }

  /// The limit that has been reached; the total one goes before.
  func exceeded(at now: Moment) -> Limit? {
    if let end, now >= end { return .total(.nanoseconds(totalTimeout)) }
    guard silentSince != nil, let deadline, now >= deadline else { return nil }
    return hasBegun ? .stall(.nanoseconds(stallTimeout)) : .answer(.nanoseconds(answerTimeout))
  }
}
