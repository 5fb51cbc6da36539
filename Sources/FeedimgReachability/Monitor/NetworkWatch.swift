import FeedimgModel

/// Decides when to look at the network, when to publish its state, and when to sleep (pure).
///
/// An event only says that something changed. Events are collected until there is quiet, and then the thread reads the
/// whole state.
struct NetworkWatch {
  enum Step: Equatable {
    /// Look at the network, and report by ``NetworkWatch/saw(_:at:)``.
    case look
    /// Discard the events that have come, and report by ``NetworkWatch/drained(_:at:)``.
    case drain
    case publish(NetworkState)
    /// Sleep until a time, or also until the next event.
    case sleep(until: Duration, orEvent: Bool)
  }

  /// The events that had come.
  enum Events {
    case none
    case some
    /// More than the socket could hold.
    case overrun
  }

  /// The time without events before a look.
  static let quiet = Duration.milliseconds(20)
  /// The longest time that events delay a look.
  static let longestStorm = Duration.milliseconds(100)
  /// The wait after an overrun, at first and at most; it doubles with each.
  static let firstRest = Duration.milliseconds(100)
  static let longestRest = Duration.seconds(1)

  private let period: Duration
  private var schedule = PublicationSchedule()
  /// When events began to come, and when to check for more.
  private var storm: (start: Duration, pause: Duration)?
  private var rest = NetworkWatch.firstRest
  private var nextLook = Duration.zero
  private var unpublished: NetworkState?

  /// Begins with a look at once.
  ///
  /// - Parameter period: The time between looks without events.
  init(period: Duration) {
    self.period = period
  }

  /// The latest published state.
  var published: NetworkState? { schedule.published }

  /// The next step.
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

  /// Events have come and were discarded.
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

  /// The network must be looked at now, such as after the machine resumed.
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
      // So many events will go on for a while: other threads need time too.
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
