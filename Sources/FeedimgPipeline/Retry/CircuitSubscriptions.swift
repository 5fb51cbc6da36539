import FeedimgModel
import FeedimgTransfer

/// Tracks the callers that wait until a failed origin responds again (pure).
///
/// All subscribers of an origin wake when it responds to any request. If no request goes out, one subscriber
/// at a time wakes to send one: after the cooldown of an open circuit, or after its own backoff. A subscriber
/// waits longer after each attempt that fails, because its own image may be the cause. Times come from a
/// monotonic clock.
struct CircuitSubscriptions: Sendable {
  struct Subscriber: Sendable {
    /// The priority of the waiting load; nil if the subscriber no longer needs to wake.
    let priority: @Sendable () -> LoadPriority?
    /// Wakes the subscriber, which may have to probe the origin; must return at once.
    let wake: @PipelineActor @Sendable (_ isProbe: Bool) -> Void
  }

  /// A subscriber with its number.
  typealias Woken = (number: Int, subscriber: Subscriber)

  private struct Record: Sendable {
    let subscriber: Subscriber
    /// The earliest time at which it may wake.
    let notBefore: Duration
    /// The time at which it wakes while the circuit is closed.
    let retryAt: Duration
  }

  static let backoff = Backoff(base: .seconds(5), maximum: .seconds(300))
  /// The time for which one subscriber tries the origin alone.
  private static let turnTime = Duration.seconds(30)

  private var records: [String: [Int: Record]] = [:]
  /// The end of the present subscriber's attempt, by origin.
  private var turns: [String: Duration] = [:]
  private var issued = 0

  var count: Int { records.values.reduce(0) { $0 + $1.count } }

  /// Adds a subscriber, which wakes once; it has already woken and failed `wakes` times.
  ///
  /// If the origin is back by now, the subscriber need not wait at first.
  ///
  /// - Returns: The number to pass to ``leave(_:of:)``.
  mutating func subscribe(
    to origin: String,
    _ subscriber: Subscriber,
    wakes: Int,
    isBack: Bool = false,
    at now: Duration
  ) -> Int {
    issued += 1
    turns[origin] = nil
    let rest = wakes > 0 ? Self.backoff.ceiling(after: wakes) : .zero
    records[origin, default: [:]][issued] = Record(
      subscriber: subscriber,
      notBefore: now + rest,
      retryAt: now + (isBack ? rest : max(rest, Self.backoff.base))
    )
    return issued
  }

  mutating func leave(_ number: Int, of origin: String) {
    records[origin]?[number] = nil
    if records[origin]?.isEmpty == true { (records[origin], turns[origin]) = (nil, nil) }
  }

  /// Records that an origin responded to a request.
  ///
  /// - Returns: The subscribers to wake, the most urgent first; they are removed.
  mutating func responded(_ origin: String, at now: Duration) -> [Woken] {
    turns[origin] = nil
    let woken = ready(origin) { $0.notBefore <= now }
    for (number, _) in woken { leave(number, of: origin) }
    return woken
  }

  /// The time at which the next subscriber wakes; nil if none will.
  func due(probeTime: (String) -> Duration?) -> Duration? {
    records.keys.compactMap { due($0, probeTime($0)) }.min()
  }

  private func due(_ origin: String, _ probeTime: Duration?) -> Duration? {
    let earliest = records[origin]?.values.map { probeTime == nil ? $0.retryAt : $0.notBefore }.min()
    return earliest.map { max($0, probeTime ?? $0, turns[origin] ?? $0) }
  }

  /// Removes and returns the subscribers that wake now, at most one for each origin.
  mutating func takeDue(
    at now: Duration,
    probeTime: (String) -> Duration?
  ) -> [(origin: String, woken: Woken)] {
    var woken: [(origin: String, woken: Woken)] = []
    for origin in Array(records.keys) {
      let probeTime = probeTime(origin)
      guard let due = due(origin, probeTime), due <= now,
        let first = ready(origin, where: { (probeTime == nil ? $0.retryAt : $0.notBefore) <= now }).first
      else { continue }
      turns[origin] = now + Self.turnTime
      leave(first.number, of: origin)
      woken.append((origin, first))
    }
    return woken
  }

  /// The subscribers of an origin that may wake, the most urgent first.
  ///
  /// Removes those that no longer need to wake; they subscribe again when that changes.
  private mutating func ready(_ origin: String, where isReady: (Record) -> Bool) -> [Woken] {
    var ready: [(priority: LoadPriority, number: Int, subscriber: Subscriber)] = []
    for (number, record) in records[origin] ?? [:] where isReady(record) {
      if let priority = record.subscriber.priority() {
        ready.append((priority, number, record.subscriber))
      } else {
        leave(number, of: origin)
      }
    }
    return ready.sorted { ($1.priority, $0.number) < ($0.priority, $1.number) }
      .map { ($0.number, $0.subscriber) }
  }

  /// Ends the attempt of a subscriber that was cancelled.
  mutating func probeCancelled(_ origin: String) { turns[origin] = nil }

  /// Ends all attempts, for example on another network.
  mutating func reset() { turns = [:] }
}

/// Wakes one slot or prefetch when the origins that failed it respond again.
@PipelineActor package final class CircuitSubscription {
  private struct Call {
    /// The number of the subscription; nil while it does not wait.
    var number: Int?
    /// How often it woke and failed again.
    var wakes = 0
  }

  private nonisolated let controller: RetryController
  private nonisolated let priority: @Sendable () -> LoadPriority?
  private var calls: [String: Call] = [:]
  private var isClosed = false

  /// - Parameters:
  ///   - controller: The controller that tracks the origins.
  ///   - priority: The priority of the waiting load; nil if it does not need to wake.
  package nonisolated init(_ controller: RetryController, priority: @escaping @Sendable () -> LoadPriority?) {
    (self.controller, self.priority) = (controller, priority)
  }

  isolated deinit { leave() }

  /// Waits for the origins that a failure names, including the origin of the thumbnail.
  ///
  /// - Parameters:
  ///   - error: The failure.
  ///   - wake: Called once for each origin; must return at once.
  package func wait(after error: LoadError, _ wake: @escaping @PipelineActor @Sendable () -> Void) {
    for error in [error] + error.retry.thumbnail where CircuitBreaker.counts(error) && !isClosed {
      guard let origin = error.retry.origin ?? error.url?.origin, calls[origin]?.number == nil else {
        continue
      }
      let subscriber = CircuitSubscriptions.Subscriber(priority: priority) { [weak self] isProbe in
        self?.calls[origin]?.number = nil
        // A probe has its own backoff, the cooldown.
        if !isProbe { self?.calls[origin]?.wakes += 1 }
        wake()
      }
      var call = calls[origin] ?? Call()
      // Responses to other images say nothing about one that got an error response from a working origin.
      let isOfImage = error.status != nil && error.retry.circuit == .closed
      let wakes = max(call.wakes, isOfImage ? 1 : 0)
      call.number = controller.subscribe(to: origin, subscriber, after: error, wakes: wakes)
      calls[origin] = call
    }
  }

  /// Stops waiting until the next call of ``wait(after:_:)``.
  package func leave() {
    for (origin, call) in calls {
      guard let number = call.number else { continue }
      controller.unsubscribe(number, from: origin)
      calls[origin]?.number = nil
    }
  }

  /// Forgets failed attempts at the origin of an image that was loaded.
  package func forget(_ url: ImageURL) {
    if let call = calls[url.origin], call.number == nil { calls[url.origin] = nil }
  }

  /// Stops waiting permanently.
  package nonisolated func close() {
    Task { @PipelineActor in
      isClosed = true
      leave()
    }
  }
}
