import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Synchronization

/// Repeats loads that failed where that may help, and refuses them where it is known not to.
///
/// It remembers URLs without an image (``NegativeCache``), origins that fail (``CircuitBreaker``), whether the network
/// carries anything (``NetworkLiveness``), and which callers wait until a host is back (``CircuitSubscriptions``).
@PipelineActor package final class RetryController {
  /// How long a load waits for an origin whose circuit is open: about as long as its own attempts would take.
  nonisolated static let patience = Duration.seconds(5)
  /// A load that brings a good part of its image each time gets its attempts back so often.
  nonisolated static let greatestAdvances = 16

  nonisolated let time: MonotonicTime
  /// Whether the network carries anything; for any thread.
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

  /// How many URLs and origins are remembered.
  var recordCount: Int { negatives.count + breaker.count }

  /// Whether a URL is known to have no image.
  func remembers(_ url: ImageURL) -> Bool { negatives.error(of: url.key, at: time.now()) != nil }

  /// Forgets all failures, as on another network or with other settings.
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
  func forget(_ url: ImageURL) { negatives.forget(url.key) }

  // MARK: Loads

  /// What a load has waited for its origin.
  private struct Wait {
    var left = RetryController.patience
    var hasWaited = false
    /// The number of the probe of a dead network, where the load is one.
    var networkProbe: Int?
  }

  /// Performs a load, several times if need be.
  ///
  /// - Parameters:
  ///   - url: Failures are remembered by its key and its origin.
  ///   - waitsForSilence: Whether to wait for a host that does not respond at all; otherwise the load fails at once.
  ///   - attempt: One attempt, which reports its requests and responses to what it is given.
  /// - Returns: What the attempt that succeeded returned.
  /// - Throws: The failure of the last attempt, or of an earlier load where nothing is tried at all.
  func perform<Answer>(
    _ url: ImageURL,
    waitsForSilence: Bool = true,
    _ attempt: (Attempt) async throws(LoadError) -> Answer
  ) async throws(LoadError) -> Answer {
    var (tries, advances, furthest) = (0, 0, 0)
    var wait = Wait()
    var last: LoadError?
    while true {
      let begun = try await admitted(url, &wait, waitsForSilence, beyond: furthest, after: last)
      var failure: LoadError
      do throws(LoadError) {
        let answer = try await attempt(begun)
        succeeded(begun)
        return answer
      } catch {
        failure = begun.attributed(error)
      }
      // The circuit opened before its request went out: it waits with the others, as long as it may.
      guard !begun.isHeldBack else { continue }
      wait = Wait()
      furthest = begun.furthest
      // A download that resumes is tried as if for the first time, but not for ever.
      if begun.hasProgressed, advances < Self.greatestAdvances { (tries, advances) = (0, advances + 1) }
      tries += 1
      last = failure
      guard let pause = failed(begun, &failure, tries: tries) else { throw failure }
      LoadWitness.tell(.retried(failure, after: pause))
      try await sleep(pause, url)
    }
  }

  /// Performs a load once, and only where its origin may be asked now; for revalidation.
  func performOnce<Answer>(
    _ url: ImageURL,
    _ attempt: (Attempt) async throws(LoadError) -> Answer
  ) async throws(LoadError) -> Answer {
    switch breaker.admission(url.origin, at: time.now()) {
    case .open(let wait, let error): throw Self.refusal(url, error, for: wait)
    case .probing: if let error = breaker.lastError(url.origin) { throw Self.refusal(url, error) }
    case .admitted: break
    }
    let begun = Attempt(url, self, networkProbe: networkProbe(of: url))
    do throws(LoadError) {
      let answer = try await attempt(begun)
      succeeded(begun)
      return answer
    } catch {
      var failure = error
      if begun.isHeldBack {
        liveness.probeCancelled(begun.networkProbe)
      } else {
        _ = failed(begun, &failure, tries: nil)
      }
      throw failure
    }
  }

  /// Why not to wait for the server of a URL, as it does not respond; nil where it may be asked now.
  func silence(of url: ImageURL) -> LoadError? {
    guard let error = breaker.lastError(url.origin), error.isSilence else { return nil }
    return switch breaker.admission(url.origin, at: time.now()) {
    case .admitted: nil
    case .open(let wait, let error): Self.refusal(url, error, for: wait)
    case .probing: Self.refusal(url, error)
    }
  }

  /// An origin responded to another program, such as the service.
  func responded(_ origin: String) { release(origin, respondedNow(origin)) }

  /// Returns when it is time to ask.
  private func admitted(
    _ url: ImageURL,
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
        if let known = negatives.error(of: url.key, at: now) { throw known }
        if let last, wait.networkProbe == nil, isOutOfReach(url) { throw last }
        if !waitsForSilence, let silence = silence(of: url) { throw silence }
        switch breaker.admission(url.origin, insisting: wait.hasWaited, at: now) {
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
            self,
            insists: wait.hasWaited,
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

  private func isOutOfReach(_ url: ImageURL) -> Bool { liveness.isOffline && !url.isLoopback }

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

  /// Why a load is not tried: the circuit of its origin is open, or another load probes it.
  private static func refusal(_ url: ImageURL, _ error: LoadError, for wait: Duration? = nil) -> LoadError {
    var error = error
    let seconds = wait.map { Int(($0 / .seconds(1)).rounded(.up)) }
    let state = seconds.map { "is left alone for another \($0) s" } ?? "has not answered again yet"
    error.message = "the host failed before and \(state): \(error.message)"
    (error.url, error.origin, error.retryAfter) = (url, nil, seconds)
    (error.isCircuitRejection, error.hasOpenCircuit) = (true, true)
    // That was about another image.
    error.negativeLifetime = nil
    return error
  }

  // MARK: Results

  private func succeeded(_ attempt: Attempt) {
    negatives.forget(attempt.url.key)
    let origins = Set([attempt.url.origin, attempt.asked.origin])
    for origin in origins { release(origin, respondedNow(origin)) }
    if !attempt.asked.isLoopback { liveness.heard(isImage: true) }
  }

  /// Remembers a failure.
  ///
  /// - Parameters:
  ///   - attempt: What failed.
  ///   - error: The failure; gains what follows for its server.
  ///   - tries: The attempts so far; nil for a load that is tried once and says nothing of its image.
  /// - Returns: How long to wait before the next attempt; nil to give up.
  private func failed(_ attempt: Attempt, _ error: inout LoadError, tries: Int?) -> Duration? {
    let now = time.now()
    guard error.code != .cancelled else {
      liveness.probeCancelled(attempt.networkProbe)
      return nil
    }
    let (url, asked) = (attempt.url, attempt.asked)
    let isRedirected = asked.origin != url.origin
    // A server that redirects has responded.
    if isRedirected { release(url.origin, respondedNow(url.origin)) }
    // A server that sent a good part of an image works, unless it says itself that it is in trouble.
    let isOfHost = CircuitBreaker.counts(error) && (error.status != nil || !attempt.hasProgressed)
    // A probe of an origin in doubt is made once.
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
      // A shortage of this program says nothing of the server.
      if attempt.isProbe {
        breaker.probeCancelled(asked.origin)
        subscriptions.probeCancelled(asked.origin)
      }
      endProbe(asked.origin)
    }
    var wait: Duration?
    if let tries, !isLast, case .wait(let pause) = schedule.step(after: error, tries: tries, using: &random) {
      wait = pause
    }
    error.hasOpenCircuit = breaker.isOpen(asked.origin)
    if tries != nil, wait == nil { negatives.note(error, of: url.key, at: now) }
    liveness.judge(error, of: attempt)
    setAlarm()
    return isOutOfReach(url) ? nil : wait
  }

  // MARK: Probes

  /// Sends a request of an attempt; whether it is the probe of its origin, and nil where it must not go out.
  func admit(_ origin: String, insisting: Bool) -> Bool? {
    guard breaker.admit(origin, insisting: insisting, at: time.now()) == .admitted else { return nil }
    return breaker.isOpen(origin)
  }

  /// The response to a probe has begun.
  func probeAnswered(_ origin: String) {
    let wasOpen = breaker.isOpen(origin)
    breaker.probeAnswered(origin)
    let woken =
      wasOpen && !breaker.isOpen(origin)
      ? subscriptions.responded(origin, wasOpen: true, at: time.now()) : []
    release(origin, woken)
  }

  /// A probe was cancelled before anything was known.
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

  /// Wakes a subscriber once its origin is back, or so that it tries the origin.
  ///
  /// - Returns: The number to leave with.
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

  /// How many subscribers wait for an origin.
  var subscriberCount: Int { subscriptions.count }

  /// When a subscriber wakes by itself; nil for never.
  var nextWake: Duration? { alarm?.due }

  private func setAlarm() {
    let due = subscriptions.due { breaker.probeTime($0) }
    guard due != alarm?.due else { return }
    alarm?.task.cancel()
    alarm = due.map { due in
      let task = Task { @PipelineActor [weak self, time] in
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
/// Whether the origin may be asked is decided when the request goes out, after the wait for a slot: no load waits for a
/// probe that itself waits for its slot.
@PipelineActor final class Attempt {
  private enum Phase {
    case waiting
    case probe
    case sent
    case answered
    /// Its request did not go out, as the circuit opened meanwhile.
    case heldBack
  }

  let url: ImageURL
  private let controller: RetryController
  private let insists: Bool
  /// The number of the probe of a dead network, where the load is one.
  let networkProbe: Int?
  /// How many bytes of the image were kept before.
  private let start: Int
  private var phase = Phase.waiting
  /// The server that was asked last: a redirect leads to another one, whose failures are its own.
  private(set) var asked: ImageURL
  /// When the last request went out.
  private(set) var begun: Duration
  /// How many bytes of the image are kept by now.
  private(set) var furthest: Int
  /// Whether a good part of the image has come that was not there before.
  private(set) var hasProgressed = false

  init(
    _ url: ImageURL,
    _ controller: RetryController,
    insists: Bool = false,
    beyond start: Int = 0,
    networkProbe: Int? = nil
  ) {
    (self.url, self.controller, self.insists, self.networkProbe) = (url, controller, insists, networkProbe)
    (self.start, furthest, asked, begun) = (start, start, url, controller.time.now())
  }

  var isHeldBack: Bool { phase == .heldBack }
  /// Whether other loads wait for its response.
  var isProbe: Bool { phase == .probe }

  /// A request is about to go out.
  ///
  /// - Throws: `cancelled` where the circuit has opened meanwhile.
  func begin() throws(LoadError) {
    (asked, begun) = (url, controller.time.now())
    guard phase != .answered else { return }
    switch controller.admit(url.origin, insisting: insists) {
    case true?: phase = .probe
    case false?: phase = .sent
    case nil:
      phase = .heldBack
      throw LoadError(.cancelled, message: "the host has failed meanwhile and is left alone")
    }
  }

  /// The head of a response came.
  func responded(status: Int, isImage: Bool) {
    if !asked.isLoopback { controller.liveness.heard(isImage: isImage) }
    // A failure of the whole origin is reported when the attempt fails.
    guard !CircuitBreaker.counts(LoadError(.status, message: "", status: status)) else { return }
    if leave(to: .answered) == .probe { controller.probeAnswered(url.origin) }
  }

  /// A response redirects to another URL.
  func redirected(to next: ImageURL) {
    if !asked.isLoopback { controller.liveness.heard(isImage: false) }
    asked = next
    if next.origin != url.origin, leave(to: .answered) == .probe { controller.probeAnswered(url.origin) }
  }

  /// The transfer was cancelled before a response; the request may go out again.
  func stopped() { if leave(to: .waiting) == .probe { controller.probeCancelled(url.origin) } }

  /// So many bytes of the image are kept after the transfer ended.
  func kept(_ count: Int, of total: Int?) {
    let before = max(start, 0)
    let gain = count - before
    furthest = max(furthest, count)
    // 64 KiB, or a tenth of what was missing, is worth another connection.
    hasProgressed = gain >= 64 << 10 || gain > 0 && total.map { gain >= ($0 - before + 9) / 10 } ?? false
  }

  /// The error with the origin that it is about.
  func attributed(_ error: LoadError) -> LoadError {
    var error = error
    error.origin = asked.origin == url.origin ? nil : asked.origin
    return error
  }

  private func leave(to next: Phase) -> Phase? {
    guard phase == .probe || phase == .sent else { return nil }
    defer { phase = next }
    return phase
  }
}

extension LoadError {
  /// Whether nothing at all came back from a server whose name is known.
  package var isSilence: Bool { NetworkLiveness.counts(self) && code != .unknownHost }
}
