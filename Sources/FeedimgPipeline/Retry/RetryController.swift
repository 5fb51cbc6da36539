import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Synchronization

/// Retries failed loads when a retry may succeed, and rejects loads that are known to fail.
///
/// It remembers URLs without an image (``NegativeCache``) and origins that fail (``CircuitBreaker``). It also
/// tracks whether the network carries data (``NetworkLiveness``), and which callers wait for an origin
/// (``CircuitSubscriptions``).
@PipelineActor package final class RetryController {
  /// The longest wait of a load for an open circuit, about as long as its own attempts would take.
  nonisolated static let maximumWait = Duration.seconds(5)
  /// The number of times that a load with progress gets all its attempts back.
  nonisolated static let maximumAdvances = 16
  /// The longest time that the attempts of a load take together if they time out without progress.
  nonisolated static let maximumSilence = Duration.seconds(30)

  nonisolated let time: MonotonicTime
  /// Tracks whether the network carries data; any thread may use it.
  nonisolated let liveness: LivenessMonitor
  private nonisolated let schedule: RetrySchedule
  private var breaker = CircuitBreaker()
  private var negatives = NegativeCache()
  private var subscriptions = CircuitSubscriptions()
  /// The probes that other loads wait for, by origin.
  private var probes: [String: Event] = [:]
  private var random = SystemRandomNumberGenerator()
  private var alarm: (due: Duration, task: Task<Void, Never>)?

  nonisolated init(_ time: MonotonicTime, schedule: RetrySchedule = RetrySchedule()) {
    (self.time, self.schedule, liveness) = (time, schedule, LivenessMonitor(time))
  }

  isolated deinit { alarm?.task.cancel() }

  /// The number of remembered URLs and origins.
  var recordCount: Int { negatives.count + breaker.count }

  /// Whether a URL is known to have no image, for requests without credentials.
  func remembers(_ url: ImageURL) -> Bool { negatives.error(of: url.key, at: time.now()) != nil }

  /// Forgets all failures, for example on another network or with other settings.
  func reset() {
    breaker.reset()
    negatives.reset()
    liveness.reset()
    subscriptions.reset()
    for probe in probes.values { probe.signal() }
    probes = [:]
    setAlarm()
  }

  /// Forgets why an image could not be loaded, so that it is requested again.
  ///
  /// - Parameter key: See ``RequestIdentity/failureKey(of:)``.
  func forget(_ key: String) { negatives.forget(key) }

  // MARK: Loads

  /// How long and how often a load has waited for its origin.
  private struct Wait {
    var left = RetryController.maximumWait
    var hasWaited = false
    /// The number of the probe, if the load probes a dead network.
    var networkProbe: Int?
  }

  /// Performs a load, with retries.
  ///
  /// - Parameters:
  ///   - url: The URL, whose origin identifies failures of the server.
  ///   - key: Identifies failures of the image; see ``RequestIdentity/failureKey(of:)``. Nil for that of the URL.
  ///   - waitsForSilence: Whether to wait for a host that does not respond; otherwise the load fails at once.
  ///   - attempt: Makes one attempt, and reports its requests and responses to the given ``Attempt``.
  /// - Returns: The result of the successful attempt.
  /// - Throws: The failure of the last attempt, or of an earlier load if no attempt is made.
  func perform<Value>(
    _ url: ImageURL,
    key: String? = nil,
    waitsForSilence: Bool = true,
    _ attempt: (Attempt) async throws(LoadError) -> Value
  ) async throws(LoadError) -> Value {
    var (tries, advances, furthest) = (0, 0, 0)
    var timeLeft = Self.maximumSilence
    var wait = Wait()
    var last: LoadError?
    while true {
      let begun = try await admitted(url, key, &wait, waitsForSilence, beyond: furthest, after: last)
      begun.timeLeft = timeLeft
      var failure: LoadError
      do throws(LoadError) {
        let value = try await attempt(begun)
        succeeded(begun)
        return value
      } catch {
        failure = begun.attributed(error)
      }
      // The circuit opened before the request went out, so the load waits with the others.
      guard !begun.isWithheld else { continue }
      wait = Wait()
      furthest = begun.furthest
      // A download that progresses gets all its attempts back, but only a limited number of times.
      if begun.hasProgressed, advances < Self.maximumAdvances { (tries, advances) = (0, advances + 1) }
      tries += 1
      last = failure
      if begun.hasProgressed { timeLeft = Self.maximumSilence }
      if failure.code == .timeout { timeLeft -= time.now() - begun.begun }
      guard let pause = failed(begun, &failure, tries: tries, timeLeft: timeLeft) else { throw failure }
      if failure.code == .timeout { timeLeft -= pause }
      LoadEventReporter.report(.retried(failure, after: pause))
      try await sleep(pause, url)
    }
  }

  /// Performs a load once, if its origin may be asked now; for revalidation.
  func performOnce<Value>(
    _ url: ImageURL,
    key: String? = nil,
    _ attempt: (Attempt) async throws(LoadError) -> Value
  ) async throws(LoadError) -> Value {
    switch breaker.admission(url.origin, at: time.now()) {
    case .open(let wait, let error): throw Self.refusal(url, error, for: wait)
    case .probing: if let error = breaker.lastError(url.origin) { throw Self.refusal(url, error) }
    case .admitted: break
    }
    let begun = Attempt(url, key: key, self, networkProbe: networkProbe(of: url))
    do throws(LoadError) {
      let value = try await attempt(begun)
      succeeded(begun)
      return value
    } catch {
      var failure = error
      if begun.isWithheld {
        liveness.probeCancelled(begun.networkProbe)
      } else {
        _ = failed(begun, &failure, tries: nil)
      }
      throw failure
    }
  }

  /// The reason not to wait for a server that does not respond; nil if it may be asked now.
  func silence(of url: ImageURL) -> LoadError? {
    guard let error = breaker.lastError(url.origin), error.isSilence else { return nil }
    return switch breaker.admission(url.origin, at: time.now()) {
    case .admitted: nil
    case .open(let wait, let error): Self.refusal(url, error, for: wait)
    case .probing: Self.refusal(url, error)
    }
  }

  /// Records that an origin responded to another program, such as the service.
  func responded(_ origin: String) { release(origin, respondedNow(origin)) }

  /// Waits until a request may go out.
  private func admitted(
    _ url: ImageURL,
    _ key: String?,
    _ wait: inout Wait,
    _ waitsForSilence: Bool,
    beyond furthest: Int,
    after last: LoadError?
  ) async throws(LoadError) -> Attempt {
    let deadline = time.now() + wait.left
    defer { wait.left = max(.zero, deadline - time.now()) }
    do throws(LoadError) {
      while true {
        guard !Task.isCancelled else { throw Self.cancelled(url) }
        let now = time.now()
        if let known = negatives.error(of: key ?? url.key, at: now) { throw known }
        if let last, wait.networkProbe == nil, isUnreachable(url) { throw last }
        if !waitsForSilence, let silence = silence(of: url) { throw silence }
        switch breaker.admission(url.origin, allowingProbe: wait.hasWaited, at: now) {
        case .open(let pause, let error):
          guard now + pause <= deadline else { throw Self.refusal(url, error, for: pause) }
          try await sleep(pause, url)
        case .probing where now < deadline:
          let probe = probes[url.origin] ?? Event()
          probes[url.origin] = probe
          await probe.wait(deadline - now, time)
        case .probing:
          if let error = breaker.lastError(url.origin) { throw Self.refusal(url, error) }
          fallthrough
        case .admitted:
          wait.networkProbe = wait.networkProbe ?? networkProbe(of: url)
          return Attempt(
            url,
            key: key,
            self,
            mayProbe: wait.hasWaited,
            beyond: furthest,
            networkProbe: wait.networkProbe
          )
        }
        wait.hasWaited = true
      }
    } catch {
      liveness.probeCancelled(wait.networkProbe)
      throw error
    }
  }

  private func networkProbe(of url: ImageURL) -> Int? { url.isLoopback ? nil : liveness.began() }

  private func isUnreachable(_ url: ImageURL) -> Bool { liveness.isOffline && !url.isLoopback }

  private func sleep(_ wait: Duration, _ url: ImageURL) async throws(LoadError) {
    do {
      try await time.sleep(wait)
    } catch {
      throw Self.cancelled(url)
    }
  }

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
    (error.retry.circuit, error.retry.origin, error.retry.lifetime) = (.rejected, nil, nil)
    return error
  }

  // MARK: Results

  private func succeeded(_ attempt: Attempt) {
    negatives.forget(attempt.key)
    let origins = Set([attempt.url.origin, attempt.asked.origin])
    for origin in origins { release(origin, respondedNow(origin)) }
    if !attempt.asked.isLoopback { liveness.responded(isImage: true) }
  }

  /// Records a failure.
  ///
  /// - Parameters:
  ///   - attempt: The failed attempt.
  ///   - error: The failure, to which the state of its server is added.
  ///   - tries: The number of attempts so far; nil for a load with a single attempt, whose failure is not
  ///     remembered.
  ///   - timeLeft: The time that the pause and later attempts may take if they time out without progress.
  /// - Returns: The wait before the next attempt; nil to give up.
  private func failed(
    _ attempt: Attempt,
    _ error: inout LoadError,
    tries: Int?,
    timeLeft: Duration = RetryController.maximumSilence
  ) -> Duration? {
    let now = time.now()
    guard error.code != .cancelled else {
      liveness.probeCancelled(attempt.networkProbe)
      return nil
    }
    let (url, asked) = (attempt.url, attempt.asked)
    let isRedirected = asked.origin != url.origin
    // A server that redirects has responded.
    if isRedirected { release(url.origin, respondedNow(url.origin)) }
    // A server that sent much of an image works, unless its status indicates a problem.
    let isOfHost = CircuitBreaker.counts(error) && (error.status != nil || !attempt.hasProgressed)
    // A failed probe of a failing origin is not retried.
    let isLast = isOfHost && attempt.isProbe && breaker.isOpenForFailures(asked.origin)
    if isOfHost {
      breaker.failed(
        asked.origin,
        error,
        isProbe: attempt.isProbe,
        isRepeated: tries ?? 1 > 1,
        redirectedAt: isRedirected ? attempt.begun : nil,
        at: now,
        using: &random
      )
      if attempt.isProbe { endProbe(asked.origin) }
    } else if error.code != .unavailable {
      release(asked.origin, respondedNow(asked.origin))
    } else {
      // A lack of local resources indicates nothing about the server.
      if attempt.isProbe {
        breaker.probeCancelled(asked.origin)
        subscriptions.probeCancelled(asked.origin)
      }
      endProbe(asked.origin)
    }
    var wait: Duration?
    if let tries, !isLast, case .wait(let pause) = schedule.step(after: error, tries: tries, using: &random),
      // An attempt of less than a second is not worth its connection.
      error.code != .timeout || pause + .seconds(1) <= timeLeft
    {
      wait = pause
    }
    error.retry.circuit = breaker.isOpen(asked.origin) ? .opened : .closed
    if tries != nil, wait == nil { negatives.note(error, of: attempt.key, at: now) }
    liveness.failed(error, of: attempt)
    setAlarm()
    return isUnreachable(url) ? nil : wait
  }

  // MARK: Probes

  /// Admits a request of an attempt.
  ///
  /// - Returns: Whether the request is a probe of its origin; nil if it must not go out.
  func admit(_ origin: String, allowingProbe: Bool) -> Bool? {
    guard breaker.admit(origin, allowingProbe: allowingProbe, at: time.now()) == .admitted else { return nil }
    return breaker.isOpen(origin)
  }

  /// Records that the response to a probe has begun.
  func probeResponded(_ origin: String) {
    let wasOpen = breaker.isOpen(origin)
    breaker.probeResponded(origin)
    let woken =
      wasOpen && !breaker.isOpen(origin)
      ? subscriptions.responded(origin, wasOpen: true, at: time.now()) : []
    release(origin, woken)
  }

  /// Ends a probe that was cancelled without a result.
  func probeCancelled(_ origin: String) {
    breaker.probeCancelled(origin)
    subscriptions.probeCancelled(origin)
    release(origin, [])
  }

  private func respondedNow(_ origin: String) -> [CircuitSubscriptions.Entry] {
    let wasOpen = breaker.isOpen(origin)
    breaker.responded(origin)
    return subscriptions.responded(origin, wasOpen: wasOpen, at: time.now())
  }

  private func endProbe(_ origin: String) { probes.removeValue(forKey: origin)?.signal() }

  private func release(_ origin: String, _ woken: [CircuitSubscriptions.Entry]) {
    endProbe(origin)
    for entry in woken.byPriority { entry.subscriber.wake(.hostIsBack) }
    setAlarm()
  }

  // MARK: Subscriptions

  /// Wakes a subscriber when its origin responds again, or when the subscriber must try the origin.
  ///
  /// - Returns: The number to pass to ``unsubscribe(_:from:)``.
  func subscribe(
    to origin: String,
    _ subscriber: CircuitSubscriptions.Subscriber,
    after error: LoadError,
    wakes: Int
  ) -> Int {
    defer { setAlarm() }
    return subscriptions.subscribe(
      to: origin,
      subscriber,
      after: error,
      wakes: wakes,
      isOpen: breaker.isOpen(origin),
      at: time.now()
    )
  }

  func unsubscribe(_ number: Int, from origin: String) {
    subscriptions.leave(number, of: origin)
    setAlarm()
  }

  var subscriberCount: Int { subscriptions.count }

  /// The time at which the next subscriber wakes without a response; nil if none will.
  var nextWake: Duration? { alarm?.due }

  private func setAlarm() {
    let due = subscriptions.due { breaker.probeTime($0) }
    guard due != alarm?.due else { return }
    alarm?.task.cancel()
    alarm = due.map { due in
      let task = PipelineActor.task { [weak self, time] in
        let wait = due - time.now()
        if wait > .zero { guard (try? await time.sleep(wait)) != nil else { return } }
        guard !Task.isCancelled, let self else { return }
        self.alarm = nil
        self.wakeDue()
      }
      return (due, task)
    }
  }

  private func wakeDue() {
    for (origin, entry) in subscriptions.takeDue(at: time.now(), probeTime: { breaker.probeTime($0) }) {
      entry.subscriber.wake(breaker.isOpen(origin) ? .probe : .retry)
    }
    setAlarm()
  }
}

/// One attempt of a load, from its admission to its response.
///
/// The circuit is checked when the request goes out, after the wait for a slot. A load therefore never waits
/// for a probe that itself waits for a slot.
@PipelineActor final class Attempt {
  private enum Phase {
    case waiting
    case probe
    case sent
    case responded
    /// The circuit opened before the request went out.
    case withheld
  }

  let url: ImageURL
  let key: String
  private let controller: RetryController
  private let mayProbe: Bool
  /// The number of the probe, if the load probes a dead network.
  let networkProbe: Int?
  /// The longest time to wait for a connection or a response.
  var timeLeft = RetryController.maximumSilence
  private let start: Int
  private var phase = Phase.waiting
  /// The server of the latest request; after a redirect, failures count for its target.
  private(set) var asked: ImageURL
  private(set) var begun: Duration
  private(set) var furthest: Int
  /// Whether this attempt received a substantial part of the image.
  private(set) var hasProgressed = false

  init(
    _ url: ImageURL,
    key: String? = nil,
    _ controller: RetryController,
    mayProbe: Bool = false,
    beyond start: Int = 0,
    networkProbe: Int? = nil
  ) {
    (self.url, self.key, self.controller) = (url, key ?? url.key, controller)
    (self.mayProbe, self.networkProbe) = (mayProbe, networkProbe)
    (self.start, furthest, asked, begun) = (start, start, url, controller.time.now())
  }

  var isWithheld: Bool { phase == .withheld }
  /// Whether other loads wait for its response.
  var isProbe: Bool { phase == .probe }

  /// Starts a request.
  ///
  /// - Throws: `cancelled` if the circuit has opened meanwhile.
  func begin() throws(LoadError) {
    (asked, begun) = (url, controller.time.now())
    guard phase != .responded else { return }
    switch controller.admit(url.origin, allowingProbe: mayProbe) {
    case true?: phase = .probe
    case false?: phase = .sent
    case nil:
      phase = .withheld
      throw LoadError(.cancelled, message: "the host has failed meanwhile; the request was not sent")
    }
  }

  func responded(status: Int, isImage: Bool) {
    if !asked.isLoopback { controller.liveness.responded(isImage: isImage) }
    // The attempt reports a failure of the whole origin when it ends.
    guard !CircuitBreaker.counts(LoadError(.status, message: "", status: status)) else { return }
    if leave(to: .responded) == .probe { controller.probeResponded(url.origin) }
  }

  func redirected(to next: ImageURL) {
    if !asked.isLoopback { controller.liveness.responded(isImage: false) }
    asked = next
    if next.origin != url.origin, leave(to: .responded) == .probe { controller.probeResponded(url.origin) }
  }

  /// Records that the transfer stopped before a response; the request may go out again.
  func stopped() { if leave(to: .waiting) == .probe { controller.probeCancelled(url.origin) } }

  /// Records the number of bytes kept after the transfer ended.
  func kept(_ count: Int, of total: Int?) {
    let before = max(start, 0)
    let gain = count - before
    furthest = max(furthest, count)
    // 64 KiB, or a tenth of the missing bytes, is enough to justify another connection.
    hasProgressed = gain >= 64 << 10 || gain > 0 && total.map { gain >= ($0 - before + 9) / 10 } ?? false
  }

  /// The error with the origin that failed.
  func attributed(_ error: LoadError) -> LoadError {
    var error = error
    error.retry.origin = asked.origin == url.origin ? nil : asked.origin
    return error
  }

  private func leave(to next: Phase) -> Phase? {
    guard phase == .probe || phase == .sent else { return nil }
    defer { phase = next }
    return phase
  }
}

extension LoadError {
  /// Whether a server with a known name sent no response at all.
  package var isSilence: Bool { NetworkLiveness.counts(self) && code != .unknownHost }
}
