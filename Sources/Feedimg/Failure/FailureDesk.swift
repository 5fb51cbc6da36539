import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Tries a load again where that may help, and not where it is known not to.
final class FailureDesk: Sendable {
  /// What precedes a try.
  private enum Beginning {
    case ask
    case wait(Duration)
    case awaitTrial(TrialEnd, Duration)
    case refuse(LoadError)
  }

  /// What a try has waited for its origin.
  private struct Wait {
    var left = FailureDesk.patience
    var hasBegun = false
    /// The number of the trial that it is, where it tries a dead network.
    var trial: Int?
  }

  /// So long a load waits for an origin that is left alone, about as long as its own tries would take; who is woken when
  /// it answers waits for none that is silent, see ``silence(of:)``.
  static let patience = Duration.seconds(5)

  /// So often a load that has brought a good part of its image gets its tries back.
  static let greatestAdvances = 16

  let time: MonotonicTime
  private let schedule: RetrySchedule
  /// Called when the network turns out to be dead, and when it turns out not to be.
  let onTurn: Mutex<(@Sendable () -> Void)?> = Mutex(nil)
  /// Guards what is remembered of failures.
  let state = Mutex(FailureTable())
  /// Guards when somebody is woken to try an origin; taken before ``state``.
  let alarm: Mutex<Alarm?> = Mutex(nil)

  init(_ time: MonotonicTime, schedule: RetrySchedule = RetrySchedule()) {
    self.time = time
    self.schedule = schedule
  }

  deinit { alarm.withLock { $0 }?.task.cancel() }

  /// How many URLs and hosts are remembered.
  var recordCount: Int { state.withLock { $0.memory.count + $0.breaker.count } }

  /// Whether a URL is known not to be had.
  func remembers(_ url: ImageURL) -> Bool {
    let now = time.now()
    return state.withLock { $0.memory.error(of: url.key, at: now) != nil }
  }

  /// Forgets all failures, as on another network or with other settings.
  func reset() {
    let trials = state.withLock { state in
      state.breaker.reset()
      state.memory.reset()
      state.connectivity.reset()
      state.vigil.reset()
      defer { state.trials = [:] }
      return Array(state.trials.values)
    }
    for trial in trials { trial.tell() }
    setAlarm()
  }

  /// Forgets why an image cannot be had, so that it is asked for anew.
  func forget(_ url: ImageURL) { state.withLock { $0.memory.forget(url.key) } }

  /// Performs a load, several times if need be.
  ///
  /// - Parameters:
  ///   - url: What is loaded; its key and its origin are what failures are remembered by.
  ///   - attempt: One try, from the beginning; its requests go out as what it is given says.
  /// - Returns: The image.
  /// - Throws: The failure of the last try, or of an earlier load where nothing is tried at all.
  func perform<Answer>(
    _ url: ImageURL,
    _ attempt: (LoadTry) async throws(LoadError) -> Answer
  ) async throws(LoadError) -> Answer {
    var tries = 0
    var (advances, furthest) = (0, 0)
    var waited = Wait()
    var last: LoadError?
    while true {
      let begun = try await begin(url, &waited, beyond: furthest, after: last)
      var failure: LoadError
      do throws(LoadError) {
        let answer = try await attempt(begun)
        succeeded(url, begun)
        return answer
      } catch {
        failure = begun.named(error)
      }
      // It goes on to wait for who was first, as long as it may.
      guard !begun.isHeldBack else { continue }
      waited = Wait()
      furthest = begun.furthest
      // What goes on from where it broke off is tried as if for the first time, but not for ever.
      if begun.hasProgressed, advances < Self.greatestAdvances { (tries, advances) = (0, advances + 1) }
      tries += 1
      last = failure
      guard let wait = failed(url, &failure, begun, tries: tries) else { throw failure }
      LoadWitness.tell(.retried(failure, after: wait))
      try await sleep(wait, url)
    }
  }

  /// Performs what can wait for another time: once, and only where its origin is asked at all.
  ///
  /// Whether its image is known not to be had is the matter of who asks, and so is remembering it.
  ///
  /// - Parameters:
  ///   - url: What is asked for.
  ///   - attempt: The try; its requests go out as what it is given says.
  /// - Returns: The answer.
  /// - Throws: Its failure, or why it is not tried.
  func performOnce<Answer>(
    _ url: ImageURL,
    _ attempt: (LoadTry) async throws(LoadError) -> Answer
  ) async throws(LoadError) -> Answer {
    let begun = LoadTry(url, self, trial: try beginOnce(url))
    do throws(LoadError) {
      let answer = try await attempt(begun)
      succeeded(url, begun)
      return answer
    } catch {
      var failure = error
      if begun.isHeldBack { gaveUp(begun.trial) } else { _ = failed(url, &failure, begun, tries: nil) }
      throw failure
    }
  }

  /// Lets what can wait ask now.
  ///
  /// - Returns: The number of the trial that it is, where it tries a dead network.
  /// - Throws: Why it is not asked for.
  private func beginOnce(_ url: ImageURL) throws(LoadError) -> Int? {
    let now = time.now()
    let begun = state.withLock { state -> Result<Int?, LoadError> in
      switch state.breaker.outlook(url.origin, at: now) {
      case .leaveAlone(let wait, let error): return .failure(Self.refusal(url, error, for: wait))
      case .awaitTrial:
        if let error = state.breaker.lastError(url.origin) { return .failure(Self.refusal(url, error)) }
      case .ask: break
      }
      return .success(state.began(url, at: now))
    }
    return try begun.get()
  }

  /// Returns when it is time to ask.
  ///
  /// - Throws: Why that is of no use for now, be it that nothing gets through after an earlier try, or `cancelled`.
  private func begin(
    _ url: ImageURL,
    _ waited: inout Wait,
    beyond furthest: Int,
    after last: LoadError?
  ) async throws(LoadError) -> LoadTry {
    let deadline = time.now() + waited.left
    defer { waited.left = max(.zero, deadline - time.now()) }
    do throws(LoadError) {
      while true {
        guard !Task.isCancelled else { throw Self.cancelled(url) }
        switch beginning(url, &waited, deadline: deadline, after: last) {
        case .ask:
          return LoadTry(url, self, insists: waited.hasBegun, beyond: furthest, trial: waited.trial)
        case .refuse(let refusal): throw refusal
        case .wait(let wait): try await sleep(wait, url)
        case .awaitTrial(let trial, let wait): await trial.wait(wait, time)
        }
        waited.hasBegun = true
      }
    } catch {
      gaveUp(waited.trial)
      throw error
    }
  }

  private func beginning(
    _ url: ImageURL,
    _ waited: inout Wait,
    deadline: Duration,
    after last: LoadError?
  ) -> Beginning {
    let now = time.now()
    return state.withLock { state in
      if let known = state.memory.error(of: url.key, at: now) { return .refuse(known) }
      if let last, waited.trial == nil, state.isOutOfReach(url, at: now) { return .refuse(last) }
      switch state.breaker.outlook(url.origin, insisting: waited.hasBegun, at: now) {
      case .ask: break
      case .awaitTrial where now < deadline:
        let trial = state.trials[url.origin] ?? TrialEnd()
        state.trials[url.origin] = trial
        return .awaitTrial(trial, deadline - now)
      case .awaitTrial:
        if let error = state.breaker.lastError(url.origin) { return .refuse(Self.refusal(url, error)) }
      case .leaveAlone(let wait, let error):
        return now + wait <= deadline ? .wait(wait) : .refuse(Self.refusal(url, error, for: wait))
      }
      waited.trial = waited.trial ?? state.began(url, at: now)
      return .ask
    }
  }

  /// Why a load is not tried: its origin is left alone for so long, or somebody tries it and has no answer yet.
  static func refusal(_ url: ImageURL, _ error: LoadError, for wait: Duration? = nil) -> LoadError {
    var error = error
    let seconds = wait.map { Int(($0 / .seconds(1)).rounded(.up)) }
    let state = seconds.map { "is left alone for another \($0) s" } ?? "has not answered again yet"
    error.message = "the host failed before and \(state): \(error.message)"
    (error.url, error.origin, error.retryAfter) = (url, nil, seconds)
    (error.isRefusal, error.isOfLeftAlone) = (true, true)
    // That was about another image.
    error.believedFor = nil
    return error
  }

  private static func cancelled(_ url: ImageURL) -> LoadError {
    LoadError(.cancelled, url: url, message: "cancelled")
  }

  private func sleep(_ wait: Duration, _ url: ImageURL) async throws(LoadError) {
    do {
      try await time.sleep(wait)
    } catch {
      throw Self.cancelled(url)
    }
  }

  private func succeeded(_ url: ImageURL, _ begun: LoadTry) {
    let now = time.now()
    let asked = begun.asked
    let (isTurn, releases) = state.withLock { state in
      state.memory.forget(url.key)
      let releases = [state.answered(url.origin, at: now), state.answered(asked.origin, at: now)]
      return (!asked.isLoopback && state.connectivity.heard(isImage: true, at: now), releases)
    }
    for release in releases { release.tell() }
    setAlarm()
    if isTurn { tellTurn() }
  }

  /// Takes note of a failure.
  ///
  /// - Parameters:
  ///   - url: What was asked for.
  ///   - error: How it failed; takes note of what follows for its server.
  ///   - begun: The try that failed.
  ///   - tries: Those made so far; nil where there is one alone, and its image is not taken to be gone.
  /// - Returns: How long to wait before the next try; nil to give up.
  private func failed(
    _ url: ImageURL,
    _ error: inout LoadError,
    _ begun: LoadTry,
    tries: Int?
  ) -> Duration? {
    let now = time.now()
    guard error.code != .cancelled else {
      gaveUp(begun.trial)
      return nil
    }
    let (isTrial, asked) = (begun.isTrial, begun.asked)
    let (wait, isTurn, releases) = state.withLock { state -> (Duration?, Bool, [Release?]) in
      // Who sends us on has answered.
      let first = asked.origin == url.origin ? nil : state.answered(url.origin, at: now)
      let (wait, last) = state.wait(
        after: error,
        of: asked,
        isTrial,
        // Who has sent a good part of an image is there, unless it says itself that it is in trouble.
        speaksAgainstAll: CircuitBreaker.counts(error) && (error.status != nil || !begun.hasProgressed),
        redirectedAt: asked.origin == url.origin ? nil : begun.begun,
        tries: tries,
        schedule,
        at: now
      )
      error.isOfLeftAlone = state.breaker.needsTrial(asked.origin)
      if tries != nil, wait == nil { state.memory.note(error, of: url.key, at: now) }
      let isTurn = state.judgeNetwork(
        url,
        error,
        asked: asked,
        hasProgressed: begun.hasProgressed,
        begun: begun.begun,
        trial: begun.trial,
        at: now
      )
      return (state.isOutOfReach(url, at: now) ? nil : wait, isTurn, [first, last])
    }
    for release in releases { release?.tell() }
    setAlarm()
    if isTurn { tellTurn() }
    return wait
  }
}
