import FeedimgModel

/// Who waits until origins that have failed are there again, and which of them is to ask first.
///
/// All are woken when an origin answers anybody. Where nobody asks it, one at a time is woken to try: when the origin is
/// left alone no longer, or, where it was not, after a rest. Who has been woken in vain for an origin that answers others
/// rests for longer each time, as its own image may be what fails. Pure: times are on any clock that does not jump.
struct OriginVigil: Sendable {
  /// Why somebody is woken.
  enum Reason: Sendable {
    /// The origin is left alone no longer, and somebody is to try it.
    case trial
    /// It has rested, and is to ask the origin again, which is not left alone.
    case rested
    /// There is reason to believe that the image can be had.
    case `return`
  }

  /// Somebody who begins anew when woken.
  struct Waiter: Sendable {
    /// How urgent it is; nil where nobody is to be woken any more.
    let priority: @Sendable () -> LoadPriority?
    /// Must not wait for anything; is told why.
    let wake: @Sendable (Reason) -> Void
  }

  /// A waiter with the number that it leaves with; earlier ones have smaller numbers.
  struct Entry: Sendable {
    let number: Int
    let waiter: Waiter
  }

  private struct Record {
    let waiter: Waiter
    /// Nobody wakes it before.
    let restsUntil: Duration
    /// It is woken by itself then, although its origin is not left alone; nil where the origin has answered it.
    var triesAt: Duration?

    /// When it may be woken to try an origin, left alone or not.
    func due(isLeftAlone: Bool) -> Duration? { isLeftAlone ? restsUntil : triesAt }
  }

  static let firstRest = Duration.seconds(5)
  static let greatestRest = Duration.seconds(300)
  /// Nobody else is woken to try for so long, while one does.
  private static let trialTime = Duration.seconds(30)

  private var records: [String: [Int: Record]] = [:]
  /// By origin, until when somebody tries who was woken for it.
  private var trials: [String: Duration] = [:]
  private var issued = 0

  var isEmpty: Bool { records.isEmpty }

  /// How many wait.
  var count: Int { records.values.reduce(0) { $0 + $1.count } }

  /// Somebody waits from now on.
  ///
  /// - Parameters:
  ///   - origin: For whom.
  ///   - waiter: Is woken once.
  ///   - error: How the origin has failed it.
  ///   - replays: How often it was woken before, in vain, but for trials.
  ///   - hasTried: Whether it was woken last to try the origin, left alone or not.
  ///   - isLeftAlone: Whether the origin is.
  ///   - now: The time.
  /// - Returns: The number to leave with.
  mutating func wait(
    for origin: String,
    _ waiter: Waiter,
    after error: LoadError,
    replays: Int,
    hasTried: Bool,
    isLeftAlone: Bool,
    at now: Duration
  ) -> Int {
    issued += 1
    if hasTried { trials[origin] = nil }
    let rest = Self.rest(after: replays)
    let isLeftAloneElsewhere = error.isOfLeftAlone && error.isOfService
    let isBack = error.isOfLeftAlone && !error.isOfService && !isLeftAlone
    let hasOwnTime = error.status == nil || isLeftAloneElsewhere
    let triesAt = isBack ? now + rest : hasOwnTime ? now + max(Self.firstRest, rest) : nil
    records[origin, default: [:]][issued] = Record(
      waiter: waiter,
      restsUntil: now + rest,
      triesAt: triesAt
    )
    return issued
  }

  private static func rest(after replays: Int) -> Duration {
    guard replays > 0 else { return .zero }
    return min(greatestRest, firstRest * (1 << min(replays - 1, 10)))
  }

  mutating func leave(_ number: Int, of origin: String) {
    records[origin]?[number] = nil
    if records[origin]?.isEmpty == true { (records[origin], trials[origin]) = (nil, nil) }
  }

  /// An origin answers somebody.
  ///
  /// - Parameters:
  ///   - origin: Which one.
  ///   - wasLeftAlone: Whether it was left alone until now. If not, those whom it had answered with an error are not
  ///     concerned.
  ///   - now: The time.
  /// - Returns: Who is to begin anew; they wait no longer.
  mutating func returned(_ origin: String, wasLeftAlone: Bool, at now: Duration) -> [Entry] {
    guard let waiting = records[origin] else { return [] }
    trials[origin] = nil
    let concerned = waiting.filter { wasLeftAlone || $0.value.triesAt != nil }
    let woken = concerned.filter { $0.value.restsUntil <= now }
    // Nobody may tell those that rest once more that it is back.
    for (number, record) in concerned {
      records[origin]?[number]?.triesAt = record.triesAt ?? record.restsUntil
    }
    for number in woken.keys { leave(number, of: origin) }
    return woken.map { Entry(number: $0.key, waiter: $0.value.waiter) }
  }

  /// When somebody is to be woken to try; nil for never.
  func due(_ breaker: CircuitBreaker) -> Duration? { records.keys.compactMap { due($0, breaker) }.min() }

  private func due(_ origin: String, _ breaker: CircuitBreaker) -> Duration? {
    let reopening = breaker.reopening(origin)
    let earliest = records[origin]?.values.compactMap { $0.due(isLeftAlone: reopening != nil) }.min()
    return earliest.map { max($0, reopening ?? $0, trials[origin] ?? $0) }
  }

  /// The origins that are to be tried now, and who of those that wait may.
  func candidates(_ breaker: CircuitBreaker, at now: Duration) -> [String: [Entry]] {
    var candidates: [String: [Entry]] = [:]
    for (origin, waiting) in records {
      guard let due = due(origin, breaker), due <= now else { continue }
      let isLeftAlone = breaker.reopening(origin) != nil
      candidates[origin] = waiting.compactMap { number, record in
        guard let due = record.due(isLeftAlone: isLeftAlone), due <= now else { return nil }
        return Entry(number: number, waiter: record.waiter)
      }
    }
    return candidates
  }

  /// Somebody is woken to try an origin.
  ///
  /// - Returns: Whether it still waited for that.
  mutating func tries(_ number: Int, _ origin: String, at now: Duration) -> Bool {
    guard records[origin]?[number] != nil else { return false }
    records[origin]?[number] = nil
    trials[origin] = now + Self.trialTime
    if records[origin]?.isEmpty == true { leave(number, of: origin) }
    return true
  }

  /// Who tried an origin has stopped before it knew more.
  mutating func gaveUp(_ origin: String) { trials[origin] = nil }

  /// Nobody tries any more, as on another network.
  mutating func reset() { trials = [:] }
}

extension Sequence<OriginVigil.Entry> {
  /// In the order in which they are to be woken, without those who need not be.
  ///
  /// Asks them, so not to be called under a lock.
  var inOrder: [OriginVigil.Entry] {
    let urgent = compactMap { entry in entry.waiter.priority().map { (priority: $0, entry: entry) } }
    return urgent.sorted { ($1.priority, $0.entry.number) < ($0.priority, $1.entry.number) }.map(\.entry)
  }
}
