import FeedimgModel
import FeedimgSystem

/// Lets one slot or prefetch wait until the origins that failed it respond again.
@PipelineActor package final class CircuitSubscription {
  private nonisolated let controller: RetryController
  /// The priority of the waiting load; nil if it no longer needs to wake.
  nonisolated let priority: @Sendable () -> LoadPriority?
  /// How often it woke since its last image arrived.
  private var wakes = 0
  private var isClosed = false

  /// - Parameters:
  ///   - controller: The controller that tracks the origins.
  ///   - priority: The priority of the waiting load; nil if it does not need to wake.
  package nonisolated init(_ controller: RetryController, priority: @escaping @Sendable () -> LoadPriority?) {
    (self.controller, self.priority) = (controller, priority)
  }

  /// The pause grows with each wake that brought no image, because its own image may be the cause.
  var pause: Duration { wakes > 0 ? CircuitSubscriptions.backoff.ceiling(after: wakes) : .zero }

  /// Waits for the origins that a failure names, including the origin of the thumbnail.
  ///
  /// - Parameters:
  ///   - error: The failure.
  ///   - wake: Called once for each origin; must return at once.
  package func wait(after error: LoadError, _ wake: @escaping @PipelineActor @Sendable () -> Void) {
    for server in error.servers where !isClosed && server.fault != .image {
      controller.subscribe(self, to: server) { [self] in
        // A probe has its own backoff, the cooldown.
        if !controller.breaker.isOpen(server.origin) { wakes += 1 }
        wake()
      }
    }
  }

  /// Stops waiting until the next call of ``wait(after:_:)``.
  package func leave() { controller.unsubscribe(self) }

  /// Records that an image arrived, so that the next wait is short.
  package func succeeded() { wakes = 0 }

  /// Stops waiting permanently.
  package nonisolated func close() {
    Task { @PipelineActor in
      isClosed = true
      leave()
    }
  }
}

/// The subscriptions to failed origins.
///
/// All subscribers of an origin wake when it responds to any request. Until then one wakes at a time, at least
/// 5 seconds after another: when the circuit is half-open, or after its own pause while the circuit is closed.
struct CircuitSubscriptions {
  struct Waiting {
    let subscription: CircuitSubscription
    /// The earliest time at which it may wake.
    let notBefore: Duration
    /// Whether the origin has responded since the failure, so that the wake is due.
    var isBack = false
    /// Whether the whole origin failed, so that a response to another request is reason to retry.
    let waitsForHost: Bool
    let wake: @PipelineActor @Sendable () -> Void
  }

  static let backoff = Backoff(base: .seconds(5), maximum: .seconds(300))

  /// The waiting subscribers of each origin, in the order of arrival.
  private(set) var waiting: [String: [Waiting]] = [:]
  /// When the next subscriber of an origin may wake to try it.
  private var pausedUntil: [String: Duration] = [:]

  /// Adds a subscriber, unless it waits for the origin already.
  mutating func add(_ new: Waiting, to origin: String) {
    guard waiting[origin]?.contains(where: { $0.subscription === new.subscription }) != true else { return }
    waiting[origin, default: []].append(new)
    if new.isBack { pausedUntil[origin] = nil }
  }

  mutating func remove(_ subscription: CircuitSubscription) {
    for origin in waiting.keys { remove(from: origin) { $0.subscription === subscription } }
  }

  /// Removes and returns the subscribers to wake after an origin responded.
  mutating func takeAll(_ origin: String, wasOpen: Bool, at now: Duration) -> [Waiting] {
    remove(from: origin) { (wasOpen || $0.waitsForHost) && $0.notBefore <= now }
  }

  /// The time at which the next subscriber wakes; nil if none will.
  func due(probeTime: (String) -> Duration?) -> Duration? {
    waiting.keys.compactMap { due($0, probeTime($0)) }.min()
  }

  private func due(_ origin: String, _ probeTime: Duration?) -> Duration? {
    let times = waiting[origin]?.map { waiting in
      probeTime == nil && !waiting.isBack ? waiting.notBefore + Self.backoff.base : waiting.notBefore
    }
    return times?.min().map { max($0, probeTime ?? .zero, pausedUntil[origin] ?? .zero) }
  }

  /// Removes and returns the subscribers that wake now, at most one for each origin.
  mutating func takeDue(at now: Duration, probeTime: (String) -> Duration?) -> [Waiting] {
    var woken: [Waiting] = []
    for origin in Array(waiting.keys) {
      guard let due = due(origin, probeTime(origin)), due <= now else { continue }
      // Subscribers that no longer need to wake subscribe again when that changes.
      remove(from: origin) { $0.subscription.priority() == nil }
      let ready = (waiting[origin] ?? []).filter { $0.notBefore <= now }
      let priorities = ready.map { $0.subscription.priority() ?? .prefetch }
      guard let index = priorities.firstIndex(where: { $0 == priorities.max() }) else { continue }
      pausedUntil[origin] = now + Self.backoff.base
      // It decides everything again, and waits for each origin that fails again.
      remove(ready[index].subscription)
      woken.append(ready[index])
    }
    return woken
  }

  /// - Returns: The removed subscribers.
  @discardableResult
  private mutating func remove(from origin: String, _ isRemoved: (Waiting) -> Bool) -> [Waiting] {
    let all = waiting[origin] ?? []
    let rest = all.filter { !isRemoved($0) }
    waiting[origin] = rest.isEmpty ? nil : rest
    if rest.isEmpty { pausedUntil[origin] = nil }
    return all.filter(isRemoved)
  }
}
