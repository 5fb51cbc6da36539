import FeedimgModel
import FeedimgSystem

/// Decides when the monitor's thread reads the network, publishes its state, and sleeps.
///
/// An event only says that something changed. The thread waits until events pause, and then reads the whole
/// state.
struct NetworkWatch {
  enum Step: Equatable {
    /// Read the network, then call ``NetworkWatch/observed(_:at:)``.
    case read
    /// Discard the events that have arrived, then call ``NetworkWatch/received(_:at:)``.
    case drain
    case publish(NetworkState)
    /// Sleep until a time, and with `orEvent` at most until the next event.
    case sleep(until: Duration, orEvent: Bool)
  }

  /// The pause of events before a reading.
  static let quiet = Duration.milliseconds(20)
  /// The longest time that events can delay a reading.
  static let longestStorm = Duration.milliseconds(100)
  /// The waits after overruns.
  static let backoff = Backoff(base: .milliseconds(100), maximum: .seconds(1))

  private let period: Duration
  private var schedule = PublicationSchedule()
  /// When events started, and when to check for more.
  private var storm: (start: Duration, pause: Duration)?
  /// The number of overruns since the last reading.
  private var overruns = 0
  private var nextReading = Duration.zero
  private var unpublished: NetworkState?

  /// Starts with a reading, and repeats it after each period without events.
  init(period: Duration) {
    self.period = period
  }

  /// The latest published state.
  var published: NetworkState? { schedule.published }

  /// Returns the next step.
  mutating func step(at now: Duration) -> Step {
    if let state = unpublished ?? schedule.expire(at: now) {
      unpublished = nil
      return .publish(state)
    }
    if let storm, storm.pause <= now { return .drain }
    if storm == nil, nextReading <= now { return .read }
    let until = min(storm?.pause ?? nextReading, schedule.due ?? .seconds(Int64.max))
    return .sleep(until: until, orEvent: storm == nil)
  }

  /// Records the events that have arrived and were discarded.
  mutating func received(_ events: ArrivedEvents, at now: Duration) {
    let start = storm?.start ?? now
    switch events {
    case .none where storm == nil: break
    case .some where storm == nil || now < start + Self.longestStorm:
      storm = (start, min(now + Self.quiet, start + Self.longestStorm))
    case .none, .some:
      storm = nil
      nextReading = now
      overruns = 0
    case .overrun:
      // A storm of events lasts for a while: leave time to other threads.
      overruns += 1
      storm = (start, now + Self.backoff.ceiling(after: overruns))
    }
  }

  /// Requests a reading now, for example after the machine resumed.
  mutating func woke(at now: Duration) {
    nextReading = min(nextReading, now)
  }

  /// Records the state that was read.
  mutating func observed(_ state: NetworkState, at now: Duration) {
    nextReading = now + period
    unpublished = schedule.observe(state, at: now)
  }
}
