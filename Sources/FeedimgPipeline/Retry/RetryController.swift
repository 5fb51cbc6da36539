package import FeedimgModel
import FeedimgSystem
import Synchronization

/// Retries failed loads when a retry may succeed, and rejects loads that are known to fail.
///
/// It remembers requests that failed (``NegativeCache``) and origins that fail (``CircuitBreaker``). It also
/// tracks whether the network carries data (``NetworkLiveness``), and which callers wait for an origin
/// (``CircuitSubscriptions``).
@PipelineActor package final class RetryController {
  /// The longest wait of a load for open circuits, about as long as its own attempts would take.
  nonisolated static let maximumWait = Duration.seconds(5)
  /// The longest time that the attempts of a load take together if they time out without progress.
  nonisolated static let maximumSilence = Duration.seconds(30)

  /// The time for which progress gives a load more attempts.
  nonisolated static let maximumProgress = Duration.seconds(600)

  nonisolated let time: MonotonicTime
  nonisolated let liveness: NetworkLiveness
  private nonisolated let schedule: RetrySchedule
  private(set) var breaker = CircuitBreaker()
  /// The failed requests; any thread reads those of revalidations.
  nonisolated let negatives = Mutex(NegativeCache())
  private(set) var subscriptions = CircuitSubscriptions()
  /// The next changes of circuits that loads wait for, by origin.
  private var changes: [String: Event] = [:]
  private var random = SystemRandomNumberGenerator()
  /// Wakes the next subscriber if no response does.
  private(set) var alarm: (due: Duration, task: Task<Void, Never>)?

  nonisolated init(_ time: MonotonicTime, schedule: RetrySchedule = RetrySchedule()) {
    (self.time, self.schedule, liveness) = (time, schedule, NetworkLiveness(time))
  }

  deinit { alarm?.task.cancel() }

  /// Forgets all failures, for example on another network or with other settings.
  func reset() {
    breaker.reset()
    negatives.withLock { $0.reset() }
    liveness.reset()
    for change in changes.values { change.signal() }
    changes = [:]
    setAlarm()
  }

  /// Forgets why an image could not be loaded, so that it is requested again.
  ///
  /// - Parameter key: See ``RequestIdentity/failureKey(of:)``.
  func forget(_ key: String) { negatives.withLock { $0.forget(.load(key)) } }

  /// The failure of a revalidation; nil if the last one succeeded.
  nonisolated func failure(ofRevalidation key: String) -> LoadError? {
    negatives.withLock { $0.records[.revalidation(key)]?.error }
  }

  /// Whether a revalidation ended so recently that another one is pointless.
  nonisolated func isRevalidationPaused(_ key: String) -> Bool {
    negatives.withLock { $0.isPaused(.revalidation(key), at: time.now()) }
  }

  /// Remembers the result of a revalidation; nil if it succeeded.
  func noteRevalidation(_ key: String, _ failure: LoadError?) {
    negatives.withLock { $0.note(failure, ofRevalidation: key, at: time.now()) }
  }

  // MARK: Loads

  /// Performs a load, with retries.
  ///
  /// - Parameters:
  ///   - url: The URL, whose origin identifies failures of the server.
  ///   - key: Identifies failures of the image; see ``RequestIdentity/failureKey(of:)``.
  ///   - waitsForSilence: Whether to wait for a host that does not respond. If not, the load fails at once.
  ///   - isRevalidation: Whether to make one attempt only, without a wait. Its caller remembers the failure.
  ///   - attempt: Makes one attempt. It reports its requests and responses to the given ``Attempt``.
  /// - Returns: The result of the successful attempt.
  /// - Throws: The failure of the last attempt, or of an earlier load if no attempt is made.
  func perform<Value>(
    _ url: ImageURL,
    key: String,
    waitsForSilence: Bool = true,
    isRevalidation: Bool = false,
    _ attempt: (Attempt) async throws(LoadError) -> Value
  ) async throws(LoadError) -> Value {
    let known = negatives.withLock { $0.error(of: .load(key), at: time.now()) }
    if !isRevalidation, let known { throw known }
    let end = time.now() + Self.maximumProgress
    var (tries, furthest) = (0, 0)
    var timeLeft = Self.maximumSilence
    var waitLeft = isRevalidation ? .zero : Self.maximumWait
    while true {
      try await admission(of: url, within: &waitLeft, waitsForSilence)
      // Only a load that may send a request probes a dead network.
      if !url.isLoopback { liveness.began() }
      let begun = Attempt(url, self, beyond: furthest, timeLeft: timeLeft)
      var failure: LoadError
      do throws(LoadError) {
        let value = try await attempt(begun)
        negatives.withLock { $0.forget(.load(key)) }
        for origin in Set([url.origin, begun.currentURL.origin]) { responded(origin) }
        return value
      } catch {
        failure = error
      }
      // The circuit opened before the request went out, so the load waits with the others.
      guard !begun.isWithheld else {
        if !url.isLoopback { liveness.failed(failure, url.host, since: begun.begun) }
        continue
      }
      furthest = begun.progress.furthest
      // A download that progresses gets all its attempts and its time back, but not without end.
      if begun.progress.isSubstantial, time.now() < end { (tries, timeLeft) = (0, Self.maximumSilence) }
      tries += 1
      if failure.code == .timeout { timeLeft -= time.now() - begun.begun }
      let isLast = failed(begun, &failure, isRepeated: tries > 1) || isRevalidation
      guard !isLast, let pause = schedule.pause(after: failure, tries: tries, using: &random),
        // An attempt of less than a second is not worth its connection.
        failure.code != .timeout || pause + .seconds(1) <= timeLeft
      else {
        if !isRevalidation { negatives.withLock { $0.note(failure, ofLoad: key, at: time.now()) } }
        throw failure
      }
      if failure.code == .timeout { timeLeft -= pause }
      LoadEventReporter.report(.retried(failure, after: pause))
      guard (try? await time.sleep(pause)) != nil else { throw Self.cancelled(url) }
      if isNetworkDead(for: url) { throw failure }
    }
  }

  /// The reason not to wait for a server that does not respond; nil if it may be asked now.
  func silence(of url: ImageURL) -> LoadError? {
    switch breaker.admission(url.origin, at: time.now()) {
    case .open(let wait, let error) where error.isSilence: Self.refusal(url, error, for: wait)
    case .probing(let error) where error.isSilence: Self.refusal(url, error)
    case .admitted, .open, .probing: nil
    }
  }

  /// Waits until a request may go out.
  private func admission(
    of url: ImageURL,
    within left: inout Duration,
    _ waitsForSilence: Bool
  ) async throws(LoadError) {
    let deadline = time.now() + left
    defer { left = max(.zero, deadline - time.now()) }
    while true {
      if !waitsForSilence, let silence = silence(of: url) { throw silence }
      let now = time.now()
      let end: Duration
      switch breaker.admission(url.origin, at: now) {
      case .admitted: return
      case .open(let wait, let error):
        end = now + wait
        guard end <= deadline else { throw Self.refusal(url, error, for: wait) }
      case .probing(let error):
        end = deadline
        guard now < end else { throw Self.refusal(url, error) }
      }
      let change = changes[url.origin] ?? Event()
      changes[url.origin] = change
      // The wait also ends if the load is cancelled, or if no thread is available for it.
      guard await change.wait(end - now, time) || time.now() >= end else { throw Self.cancelled(url) }
    }
  }

  private func isNetworkDead(for url: ImageURL) -> Bool { liveness.isDead && !url.isLoopback }

  private static func cancelled(_ url: ImageURL) -> LoadError {
    LoadError(.cancelled, url: url, message: "cancelled")
  }

  /// The error of a load that is rejected because of an open circuit or another load's probe.
  private static func refusal(_ url: ImageURL, _ error: LoadError, for wait: Duration? = nil) -> LoadError {
    var error = error
    let seconds = wait.map { Int(($0 / .seconds(1)).rounded(.up)) }
    let state = seconds.map { "; requests resume in \($0) s" } ?? " and has not responded since"
    error.message = "the host failed before\(state): \(error.message)"
    (error.url, error.retryAfter) = (url, seconds)
    // The lifetime belongs to another image.
    if case .errorResponse = error.cause { error.cause = nil }
    error.attribute(to: url.origin, .rejected)
    return error
  }

  // MARK: Results

  /// Records a failed attempt, and adds the state of its server to the error.
  ///
  /// - Returns: Whether a retry is pointless.
  private func failed(_ attempt: Attempt, _ error: inout LoadError, isRepeated: Bool) -> Bool {
    let (url, currentURL, hasProgressed) = (attempt.url, attempt.currentURL, attempt.progress.isSubstantial)
    if !currentURL.isLoopback, !hasProgressed {
      liveness.failed(error, currentURL.host, since: attempt.begun)
    }
    guard error.code != .cancelled else { return true }
    let isOfPresentPath = error.cause != .pathChanged
    // A server that redirects has responded.
    if currentURL.origin != url.origin, isOfPresentPath { responded(url.origin) }
    // A server that sent much of an image works, unless its status indicates a problem.
    let isOfHost = error.isOfWholeOrigin && (error.status != nil || !hasProgressed)
    if isOfHost {
      breaker.failed(
        currentURL.origin,
        error,
        since: attempt.begun,
        isRepeated: isRepeated,
        at: time.now(),
        using: &random
      )
      if attempt.isProbe { breaker.probeEnded(currentURL.origin) }
      changed(currentURL.origin)
    } else if error.code != .unavailable, isOfPresentPath {
      responded(currentURL.origin)
    } else if attempt.isProbe {
      // A lack of local resources, or a failure of an earlier path, indicates nothing about the server.
      probeEnded(currentURL.origin)
    }
    error.attribute(to: currentURL.origin, breaker.isOpen(currentURL.origin) ? .open : .closed)
    // A failed probe is not retried, unless the server names a time.
    return isOfHost && attempt.isProbe && error.retryAfter == nil || isNetworkDead(for: url)
  }

  /// Records that an origin responded to a load of this program or of the service.
  func responded(_ origin: String) {
    let wasOpen = breaker.isOpen(origin)
    breaker.responded(origin)
    let woken = subscriptions.takeAll(origin, wasOpen: wasOpen, at: time.now())
    changed(origin)
    for waiting in woken where waiting.subscription.priority() != nil { waiting.wake() }
  }

  /// Admits a request of an attempt; see ``CircuitBreaker/admit(_:at:)``.
  func admit(_ origin: String) -> Bool? { breaker.admit(origin, at: time.now()) }

  /// Ends a probe without a result, and lets others look at the circuit again.
  func probeEnded(_ origin: String) {
    breaker.probeEnded(origin)
    changed(origin)
  }

  /// Lets the loads and subscribers that wait for an origin look at its circuit again.
  private func changed(_ origin: String) {
    changes.removeValue(forKey: origin)?.signal()
    setAlarm()
  }

  // MARK: Subscriptions

  /// Wakes a subscriber when its origin responds again, or when the subscriber must try the origin.
  func subscribe(
    _ subscription: CircuitSubscription,
    to server: LoadError.FailedServer,
    _ wake: @escaping @PipelineActor @Sendable () -> Void
  ) {
    let waiting = CircuitSubscriptions.Waiting(
      subscription: subscription,
      notBefore: time.now() + subscription.pause,
      isBack: [.open, .rejected].contains(server.circuit) && !breaker.isOpen(server.origin),
      waitsForHost: server.fault == .silence || server.circuit != .closed,
      wake: wake
    )
    subscriptions.add(waiting, to: server.origin)
    setAlarm()
  }

  func unsubscribe(_ subscription: CircuitSubscription) {
    subscriptions.remove(subscription)
    setAlarm()
  }

  private func setAlarm() {
    let due = subscriptions.due { breaker.probeTime($0) }
    guard due != alarm?.due else { return }
    alarm?.task.cancel()
    alarm = due.map { due in
      let task = PipelineActor.task { [weak self, time] in
        let wait = due - time.now()
        var hasSlept = true
        if wait > .zero { hasSlept = (try? await time.sleep(wait)) != nil }
        guard !Task.isCancelled, let self else { return }
        self.alarm = nil
        // Without a thread for the alarm, the next event sets it again.
        if hasSlept { self.wakeDue() }
      }
      return (due, task)
    }
  }

  private func wakeDue() {
    for waiting in subscriptions.takeDue(at: time.now(), probeTime: { breaker.probeTime($0) }) {
      waiting.wake()
    }
    setAlarm()
  }
}

/// Decides whether and when to retry a failed transfer.
package struct RetrySchedule: Sendable {
  /// The pauses between attempts.
  static let backoff = Backoff(base: .milliseconds(500), maximum: .seconds(30))
  /// The longest `Retry-After` to respect; a transfer with a longer one is not retried.
  static let maximumRetryAfter = 60

  /// The most attempts, including the first.
  let maximumTries: Int

  package init(maximumTries: Int = 4) { self.maximumTries = maximumTries }

  /// Decides what to do after a failed attempt.
  ///
  /// - Parameters:
  ///   - error: The error of the last attempt; its `retryAfter` is the shortest pause.
  ///   - tries: The number of attempts so far, at least 1.
  ///   - random: The source of the jitter.
  /// - Returns: The pause before the next attempt; nil to give up.
  package func pause(
    after error: LoadError,
    tries: Int,
    using random: inout some RandomNumberGenerator
  ) -> Duration? {
    guard tries < maximumTries, error.isWorthRetrying else { return nil }
    let ceiling = Self.backoff.ceiling(after: tries)
    let pause = Self.backoff.jittered(ceiling, using: &random)
    guard let asked = error.retryAfter else { return pause }
    guard asked <= Self.maximumRetryAfter else { return nil }
    // Jitter only extends the pause that the server asks for, so no retry is early.
    let least = ceiling * (1 - Backoff.jitter)
    return max(.seconds(asked), least) + (pause - least)
  }
}
