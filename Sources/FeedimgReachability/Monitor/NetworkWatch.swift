import FeedimgModel

/// Decides when to look at the network, when to tell what was seen, and when to sleep.
///
/// Events say only that something has changed, never what: what they say may be old by the time they are
/// read. So they are gathered until there is quiet, and then the network is looked at as it is.
struct NetworkWatch {
  enum Step: Equatable {
    /// Look at the network, and report by ``NetworkWatch/saw(_:at:)``.
    case look
    /// Throw away what the event socket holds, and report by ``NetworkWatch/drained(_:at:)``.
    case drain
    case publish(NetworkState)
    /// Sleep until then; where it says so, no longer than until the next event.
    case sleep(until: Duration, orEvent: Bool)
  }

  /// What the event socket held.
  enum Events {
    case none
    case some
    /// More than it could hold.
    case overrun
  }

  /// How long there are no events before the network is looked at.
  static let quiet = Duration.milliseconds(20)
  /// How long events may keep coming before it is looked at anyway.
  static let longestStorm = Duration.milliseconds(100)
  /// How long to let pass after an overrun, at first and at most; doubled from one to the next.
  static let firstRest = Duration.milliseconds(100)
  static let longestRest = Duration.seconds(1)

  private let period: Duration
  private var schedule = PublicationSchedule()
  /// Since when events have come, and when to see whether more have.
  private var storm: (start: Duration, pause: Duration)?
  private var rest = NetworkWatch.firstRest
  private var nextLook = Duration.zero
  private var unpublished: NetworkState?

  /// Begins with a look at once.
  ///
  /// - Parameter period: How often to look when there are no events.
  init(period: Duration) {
    self.period = period
  }

  /// What was told last.
  var published: NetworkState? { schedule.published }

  /// What to do now.
  mutating func step(at now: Duration) -> Step {
    if let state = unpublished ?? schedule.expire(at: now) {
      unpublished = nil
      return .publish(state)
    }
    if let storm, storm.pause <= now { return .drain }
    if storm == nil, nextLook <= now { return .look }
    let until = min(storm?.pause ?? nextLook, schedule.due ?? .seconds(Int64.max))
    return .sleep(until: until, orEvent: storm == nil)
  }

  /// Events have come and are thrown away.
  mutating func heard(_ events: Events, at now: Duration) {
    guard storm == nil else { return }
    switch events {
    case .none: break
    case .some: storm = (now, now + Self.quiet)
    case .overrun:
      storm = (now, now + rest)
      rest = min(rest * 2, Self.longestRest)
    }
  }

  /// Something happened after which the network has to be looked at, such as the end of a sleep.
  mutating func woke(at now: Duration) {
    nextLook = min(nextLook, now)
  }

  /// The event socket is empty now.
  mutating func drained(_ events: Events, at now: Duration) {
    guard let start = storm?.start else { return }
    switch events {
    case .some where now < start + Self.longestStorm:
      storm = (start, min(now + Self.quiet, start + Self.longestStorm))
    case .none, .some:
      storm = nil
      nextLook = now
      rest = Self.firstRest
    case .overrun:
      // Who sends that much will not stop at once, so leave time to others.
      storm = (start, now + rest)
      rest = min(rest * 2, Self.longestRest)
    }
  }

  /// The network is in this state.
  mutating func saw(_ state: NetworkState, at now: Duration) {
    nextLook = now + period
    unpublished = schedule.observe(state, at: now)
  }
}
