import FeedimgModel
import FeedimgTransfer

/// Who waits until an origin that failed is back (pure).
///
/// When an origin responds to any request, its subscribers wake. Where no request goes out, one subscriber at a time wakes to
/// try: when the cooldown of an open circuit ends, or after its own backoff. A subscriber that woke in vain waits longer each
/// time, as its own image may be what fails. Times come from a clock that never jumps.
struct CircuitSubscriptions: Sendable {
  /// Why a subscriber wakes.
  enum Reason: Sendable {
    /// The circuit is half-open, and the subscriber is to probe.
    case probe
    /// Its own backoff has ended.
    case retry
    /// The origin responded to another request.
    case hostIsBack
  }

  struct Subscriber: Sendable {
    /// Nil where it need not wake any more.
    let priority: @Sendable () -> LoadPriority?
    /// Must return at once.
    let wake: @PipelineActor @Sendable (Reason) -> Void
  }

  /// A subscriber with its number; earlier ones have smaller numbers.
  struct Entry: Sendable {
    let number: Int
    let subscriber: Subscriber
  }

  private struct Record: Sendable {
    let subscriber: Subscriber
    /// It does not wake before.
    let notBefore: Duration
    /// It wakes by itself then, while the circuit is closed.
    let retryAt: Duration
    /// Whether the origin failed as a whole, so that a response to another request is good news.
    let waitsForHost: Bool
  }

  static let backoff = Backoff(base: .seconds(5), greatest: .seconds(300))
  /// While one subscriber tries, no other wakes to try for so long.
  private static let probeTime = Duration.seconds(30)

  private var records: [String: [Int: Record]] = [:]
  /// By origin, until when a subscriber tries.
  private var probes: [String: Duration] = [:]
  private var issued = 0

  var isEmpty: Bool { records.isEmpty }
  var count: Int { records.values.reduce(0) { $0 + $1.count } }

  /// Adds a subscriber.
  ///
  /// - Parameters:
  ///   - origin: What it waits for.
  ///   - subscriber: Wakes once.
  ///   - error: How the origin failed it.
  ///   - wakes: How often it woke before, in vain.
  ///   - isOpen: Whether the circuit of the origin is open.
  ///   - now: The time.
  /// - Returns: The number to leave with.
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
    let isBack = error.hasOpenCircuit && !error.isFromService && !isOpen
    records[origin, default: [:]][issued] = Record(
      subscriber: subscriber,
      notBefore: now + rest,
      retryAt: now + (isBack ? rest : max(rest, Self.backoff.base)),
      waitsForHost: error.status == nil || error.hasOpenCircuit
    )
    return issued
  }

  mutating func leave(_ number: Int, of origin: String) {
    records[origin]?[number] = nil
    if records[origin]?.isEmpty == true { (records[origin], probes[origin]) = (nil, nil) }
  }

  /// An origin responded to a request.
  ///
  /// - Returns: The subscribers to wake, which wait no longer.
  mutating func responded(_ origin: String, wasOpen: Bool, at now: Duration) -> [Entry] {
    guard let waiting = records[origin] else { return [] }
    probes[origin] = nil
    let woken = waiting.filter { (wasOpen || $0.value.waitsForHost) && $0.value.notBefore <= now }
    for number in woken.keys { leave(number, of: origin) }
    return woken.map { Entry(number: $0.key, subscriber: $0.value.subscriber) }
  }

  /// When a subscriber is to wake; nil for never.
  func due(probeTime: (String) -> Duration?) -> Duration? {
    records.keys.compactMap { due($0, probeTime($0)) }.min()
  }

  private func due(_ origin: String, _ probeTime: Duration?) -> Duration? {
    let earliest = records[origin]?.values.map { probeTime == nil ? $0.retryAt : $0.notBefore }.min()
    return earliest.map { max($0, probeTime ?? $0, probes[origin] ?? $0) }
  }

  /// The subscribers that wake now, one an origin, which wait no longer.
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
      // Those that need not wake ask by themselves when that changes.
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

  /// The subscriber that tried an origin was cancelled.
  mutating func probeCancelled(_ origin: String) { probes[origin] = nil }

  /// No subscriber tries any more, as on another network.
  mutating func reset() { probes = [:] }
}

extension Sequence<CircuitSubscriptions.Entry> {
  /// Those that are to wake, the most urgent first.
  var byPriority: [CircuitSubscriptions.Entry] {
    let urgent = compactMap { entry in entry.subscriber.priority().map { (priority: $0, entry: entry) } }
    return urgent.sorted { ($1.priority, $0.entry.number) < ($0.priority, $1.entry.number) }.map(\.entry)
  }
}

/// Wakes one slot or prefetch when the origins that failed it are back.
@PipelineActor package final class CircuitSubscription {
  private struct Call {
    /// Distinguishes it from earlier ones.
    var id = 0
    /// Nil while it does not wait.
    var number: Int?
    /// How often it woke in vain.
    var wakes = 0
    /// The keys of the images that the origin failed.
    var images: Set<String> = []
  }

  private nonisolated let controller: RetryController
  private nonisolated let priority: @Sendable () -> LoadPriority?
  private var calls: [String: Call] = [:]
  private var issued = 0
  private var isClosed = false

  /// - Parameters:
  ///   - controller: Knows the origins.
  ///   - priority: The priority of what waits; nil where it need not wake.
  package nonisolated init(_ controller: RetryController, priority: @escaping @Sendable () -> LoadPriority?) {
    (self.controller, self.priority) = (controller, priority)
  }

  isolated deinit { leave() }

  /// Waits for the origins that a failure is about, also for that of the thumbnail.
  ///
  /// - Parameters:
  ///   - error: The failure.
  ///   - wake: Called once for each; must return at once.
  package func wait(after error: LoadError, _ wake: @escaping @PipelineActor @Sendable () -> Void) {
    for error in [error] + error.thumbnailErrors { waitForOne(after: error, wake) }
  }

  private func waitForOne(after error: LoadError, _ wake: @escaping @PipelineActor @Sendable () -> Void) {
    guard CircuitBreaker.counts(error), let origin = error.origin ?? error.url?.origin, !isClosed else {
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

  /// Waits for no origin any more, until it waits again.
  package func leave() {
    for (origin, call) in calls {
      guard let number = call.number else { continue }
      controller.unsubscribe(number, from: origin)
      calls[origin]?.number = nil
    }
  }

  /// The image was loaded, so that it did not wake in vain.
  package func forget(_ url: ImageURL) {
    calls = calls.filter { origin, call in
      call.number != nil || origin != url.origin && !call.images.contains(url.key)
    }
  }

  /// Waits for no origin ever again.
  package nonisolated func close() {
    Task { @PipelineActor in
      isClosed = true
      leave()
    }
  }

  private func woken(_ id: Int, for origin: String, _ reason: CircuitSubscriptions.Reason) {
    // It may have left, and waited again, since it was chosen.
    guard calls[origin]?.id == id else { return }
    calls[origin]?.number = nil
    // A probe has its own backoff, the cooldown.
    if reason != .probe { calls[origin]?.wakes += 1 }
  }
}
