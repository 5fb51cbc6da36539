import FeedimgModel
import FeedimgTransfer

/// Tracks the callers that wait until a failed origin responds again (pure).
///
/// All subscribers of an origin wake when it responds to any request. If no request goes out, one subscriber
/// at a time wakes to send one: after the cooldown of an open circuit, or after its own backoff. A subscriber
/// waits longer after each attempt that fails, because its own image may be the cause. Times come from a
/// monotonic clock.
struct CircuitSubscriptions: Sendable {
  /// The reason why a subscriber wakes.
  enum Reason: Sendable {
    /// The circuit is half-open, and the subscriber must probe the origin.
    case probe
    /// The subscriber's backoff has ended.
    case retry
    /// The origin responded to another request.
    case hostIsBack
  }

  struct Subscriber: Sendable {
    /// The priority of the waiting load; nil if the subscriber no longer needs to wake.
    let priority: @Sendable () -> LoadPriority?
    /// Wakes the subscriber; must return at once.
    let wake: @PipelineActor @Sendable (Reason) -> Void
  }

  /// A subscriber with its number; numbers increase in order of subscription.
  struct Entry: Sendable {
    let number: Int
    let subscriber: Subscriber
  }

  private struct Record: Sendable {
    let subscriber: Subscriber
    /// The earliest time at which it may wake.
    let notBefore: Duration
    /// The time at which it wakes while the circuit is closed.
    let retryAt: Duration
    /// Whether the whole origin failed, so that a response to another request is reason to retry.
    let waitsForHost: Bool
  }

  static let backoff = Backoff(base: .seconds(5), maximum: .seconds(300))
  /// The time for which one subscriber tries the origin alone.
  private static let probeTime = Duration.seconds(30)

  private var records: [String: [Int: Record]] = [:]
  /// The end of the present subscriber's attempt, by origin.
  private var probes: [String: Duration] = [:]
  private var issued = 0

  var isEmpty: Bool { records.isEmpty }
  var count: Int { records.values.reduce(0) { $0 + $1.count } }

  /// Adds a subscriber.
  ///
  /// - Parameters:
  ///   - origin: The failed origin.
  ///   - subscriber: The subscriber, which wakes once.
  ///   - error: The failure of the origin.
  ///   - wakes: How often the subscriber has already woken and failed.
  ///   - isOpen: Whether the circuit of the origin is open.
  ///   - now: The current time.
  /// - Returns: The number to pass to ``leave(_:of:)``.
  mutating func subscribe(
    to origin: String,
    _ subscriber: Subscriber,
    after error: LoadError,
    wakes: Int,
    isOpen: Bool,
    at now: Duration
  ) -> Int {
    issued += 1
    probes[origin] = nil
    let rest = wakes > 0 ? Self.backoff.ceiling(after: wakes) : .zero
    // The circuit may have closed between the failure and this call.
    let isBack = [.opened, .rejected].contains(error.retry.circuit) && !isOpen
    records[origin, default: [:]][issued] = Record(
      subscriber: subscriber,
      notBefore: now + rest,
      retryAt: now + (isBack ? rest : max(rest, Self.backoff.base)),
      waitsForHost: error.status == nil || error.retry.circuit != .closed
    )
    return issued
  }

  mutating func leave(_ number: Int, of origin: String) {
    records[origin]?[number] = nil
    if records[origin]?.isEmpty == true { (records[origin], probes[origin]) = (nil, nil) }
  }

  /// Records that an origin responded to a request.
  ///
  /// - Returns: The subscribers to wake; they are removed.
  mutating func responded(_ origin: String, wasOpen: Bool, at now: Duration) -> [Entry] {
    guard let waiting = records[origin] else { return [] }
    probes[origin] = nil
    let woken = waiting.filter { (wasOpen || $0.value.waitsForHost) && $0.value.notBefore <= now }
    for number in woken.keys { leave(number, of: origin) }
    return woken.map { Entry(number: $0.key, subscriber: $0.value.subscriber) }
  }

  /// The time at which the next subscriber wakes; nil if none will.
  func due(probeTime: (String) -> Duration?) -> Duration? {
    records.keys.compactMap { due($0, probeTime($0)) }.min()
  }

  private func due(_ origin: String, _ probeTime: Duration?) -> Duration? {
    let earliest = records[origin]?.values.map { probeTime == nil ? $0.retryAt : $0.notBefore }.min()
    return earliest.map { max($0, probeTime ?? $0, probes[origin] ?? $0) }
  }

  /// Removes and returns the subscribers that wake now, at most one for each origin.
  mutating func takeDue(
    at now: Duration,
    probeTime: (String) -> Duration?
  ) -> [(origin: String, entry: Entry)] {
    var woken: [(origin: String, entry: Entry)] = []
    for origin in Array(records.keys) {
      let probeTime = probeTime(origin)
      guard let due = due(origin, probeTime), due <= now else { continue }
      let ready = (records[origin] ?? [:]).filter {
        (probeTime == nil ? $0.value.retryAt : $0.value.notBefore) <= now
      }
      let entries = ready.map { Entry(number: $0.key, subscriber: $0.value.subscriber) }
      let urgent = entries.byPriority
      // Subscribers that no longer need to wake subscribe again when that changes.
      let wanted = Set(urgent.map(\.number))
      for entry in entries where !wanted.contains(entry.number) { leave(entry.number, of: origin) }
      guard let first = urgent.first else { continue }
      probes[origin] = now + Self.probeTime
      records[origin]?[first.number] = nil
      if records[origin]?.isEmpty == true { leave(first.number, of: origin) }
      woken.append((origin, first))
    }
    return woken
  }

  /// Ends the attempt of a subscriber that was cancelled.
  mutating func probeCancelled(_ origin: String) { probes[origin] = nil }

  /// Ends all attempts, for example on another network.
  mutating func reset() { probes = [:] }
}

extension Sequence<CircuitSubscriptions.Entry> {
  /// The entries that still need to wake, the most urgent first.
  var byPriority: [CircuitSubscriptions.Entry] {
    let urgent = compactMap { entry in entry.subscriber.priority().map { (priority: $0, entry: entry) } }
    return urgent.sorted { ($1.priority, $0.entry.number) < ($0.priority, $1.entry.number) }.map(\.entry)
  }
}

/// Wakes one slot or prefetch when the origins that failed it respond again.
@PipelineActor package final class CircuitSubscription {
  private struct Call {
    /// Distinguishes this wait from earlier ones.
    var id = 0
    /// The number of the subscription; nil while it does not wait.
    var number: Int?
    /// How often it woke and failed again.
    var wakes = 0
    /// The keys of the images that the origin failed to deliver.
    var images: Set<String> = []
  }

  private nonisolated let controller: RetryController
  private nonisolated let priority: @Sendable () -> LoadPriority?
  private var calls: [String: Call] = [:]
  private var issued = 0
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
    for error in [error] + error.retry.thumbnail { waitForOne(after: error, wake) }
  }

  private func waitForOne(after error: LoadError, _ wake: @escaping @PipelineActor @Sendable () -> Void) {
    guard CircuitBreaker.counts(error), let origin = error.retry.origin ?? error.url?.origin, !isClosed else {
      return
    }
    var call = calls[origin] ?? Call()
    if let url = error.url { call.images.insert(url.key) }
    defer { calls[origin] = call }
    guard call.number == nil else { return }
    issued += 1
    call.id = issued
    let subscriber = CircuitSubscriptions.Subscriber(priority: priority) { [weak self, id = issued] reason in
      self?.woken(id, for: origin, reason)
      wake()
    }
    call.number = controller.subscribe(to: origin, subscriber, after: error, wakes: call.wakes)
  }

  /// Stops waiting until the next call of ``wait(after:_:)``.
  package func leave() {
    for (origin, call) in calls {
      guard let number = call.number else { continue }
      controller.unsubscribe(number, from: origin)
      calls[origin]?.number = nil
    }
  }

  /// Forgets failed attempts of an image that was loaded.
  package func forget(_ url: ImageURL) {
    calls = calls.filter { origin, call in
      call.number != nil || origin != url.origin && !call.images.contains(url.key)
    }
  }

  /// Stops waiting permanently.
  package nonisolated func close() {
    Task { @PipelineActor in
      isClosed = true
      leave()
    }
  }

  private func woken(_ id: Int, for origin: String, _ reason: CircuitSubscriptions.Reason) {
    // The subscription may have ended and started again since it was chosen to wake.
    guard calls[origin]?.id == id else { return }
    calls[origin]?.number = nil
    // A probe has its own backoff, the cooldown.
    if reason != .probe { calls[origin]?.wakes += 1 }
  }
}
