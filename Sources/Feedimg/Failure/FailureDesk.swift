import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Tries a load again where that may help, and not where it is known not to.
final class FailureDesk: Sendable {
  private struct State {
    var breaker = CircuitBreaker()
    var memory = NegativeMemory()
    var connectivity = Connectivity()
    var random = SystemRandomNumberGenerator()
  }

  private let time: MonotonicTime
  private let schedule: RetrySchedule
  /// Called when the network turns out to be dead, and when it turns out not to be.
  private let onTurn: Mutex<(@Sendable () -> Void)?> = Mutex(nil)
  /// Guards what is remembered of failures.
  private let state = Mutex(State())

  init(_ time: MonotonicTime, schedule: RetrySchedule = RetrySchedule()) {
    self.time = time
    self.schedule = schedule
  }

  /// Tells one listener when loads should be decided anew, as nothing gets through any more, or something does.
  func listen(_ onTurn: (@Sendable () -> Void)?) { self.onTurn.withLock { $0 = onTurn } }

  /// Whether to decide as if offline, although the network says that it is connected.
  var isOffline: Bool { state.withLock { $0.connectivity.isOffline(at: time.now()) } }

  /// How many URLs and hosts are remembered.
  var recordCount: Int { state.withLock { $0.memory.count + $0.breaker.count } }

  /// Whether a URL is known not to be had.
  func remembers(_ url: ImageURL) -> Bool {
    let now = time.now()
    return state.withLock { $0.memory.error(of: url.key, at: now) != nil }
  }

  /// A state of the network as decisions see it: offline where nothing gets through.
  func judged(_ state: NetworkState) -> NetworkState {
    guard state.kind != .offline, isOffline else { return state }
    return NetworkState(
      kind: .offline,
      metered: state.metered,
      isReachable: false,
      reason: "connected (\(state.kind.rawValue)), but nothing gets through",
      meteredReason: state.meteredReason
    )
  }

  /// In how long one load may try whether the network is still dead; nil where it is not.
  var trial: Duration? { state.withLock { $0.connectivity.trial(at: time.now()) } }

  /// Forgets all failures, as on another network or with other settings.
  func reset() {
    state.withLock { state in
      state.breaker.reset()
      state.memory.reset()
      state.connectivity.reset()
    }
  }

  /// Forgets why an image cannot be had, so that it is asked for anew.
  func forget(_ url: ImageURL) { state.withLock { $0.memory.forget(url.key) } }

  /// Performs a load, several times if need be.
  ///
  /// - Parameters:
  ///   - url: What is loaded; its key and its host are what failures are remembered by.
  ///   - attempt: One try, from the beginning.
  /// - Returns: The image.
  /// - Throws: The failure of the last try, or of an earlier load where nothing is tried at all.
  func perform<Answer>(
    _ url: ImageURL,
    _ attempt: () async throws(LoadError) -> Answer
  ) async throws(LoadError) -> Answer {
    var tries = 0
    while true {
      try begin(url)
      let failure: LoadError
      do throws(LoadError) {
        let answer = try await attempt()
        succeeded(url)
        return answer
      } catch {
        failure = error
      }
      tries += 1
      guard let wait = failed(url, failure, tries: tries) else { throw failure }
      LoadWitness.tell(.retried(failure, after: wait))
      do {
        try await time.sleep(wait)
      } catch {
        throw LoadError(.cancelled, url: url, message: "cancelled")
      }
    }
  }

  private func begin(_ url: ImageURL) throws(LoadError) {
    let now = time.now()
    let refusal = state.withLock { state -> LoadError? in
      if let known = state.memory.error(of: url.key, at: now) { return known }
      guard case .leaveAlone(let wait, var error) = state.breaker.verdict(url.host, at: now) else {
        state.connectivity.began(at: now)
        return nil
      }
      let seconds = Int((wait / .seconds(1)).rounded(.up))
      error.message = "the host failed before and is left alone for another \(seconds) s: \(error.message)"
      (error.url, error.retryAfter) = (url, seconds)
      return error
    }
    if let refusal { throw refusal }
  }

  private func succeeded(_ url: ImageURL) {
    let isTurn = state.withLock { state in
      state.memory.forget(url.key)
      state.breaker.answered(url.host)
      return state.connectivity.answered()
    }
    if isTurn { onTurn.withLock { $0 }?() }
  }

  /// Takes note of a failure.
  ///
  /// - Returns: How long to wait before the next try; nil to give up.
  private func failed(_ url: ImageURL, _ error: LoadError, tries: Int) -> Duration? {
    let now = time.now()
    let (wait, isTurn) = state.withLock { state -> (Duration?, Bool) in
      guard error.code != .cancelled else {
        state.breaker.gaveUp(url.host, at: now)
        return (nil, false)
      }
      if CircuitBreaker.counts(error) {
        state.breaker.failed(url.host, error, at: now, using: &state.random)
      } else {
        state.breaker.answered(url.host)
      }
      // What is on this machine says nothing about the network.
      var isTurn = false
      if Connectivity.counts(error) {
        isTurn = !url.isLoopback && state.connectivity.failed(url.host, at: now)
      } else if error.status != nil || error.code == .notAnImage {
        isTurn = state.connectivity.answered()
      }
      guard case .wait(let wait) = schedule.step(after: error, tries: tries, using: &state.random) else {
        state.memory.note(error, of: url.key, at: now)
        return (nil, isTurn)
      }
      return (wait, isTurn)
    }
    if isTurn { onTurn.withLock { $0 }?() }
    return wait
  }
}
