import FeedimgModel
import FeedimgTransfer

/// What is remembered of failures, and what follows from one more.
///
/// Times are on any clock that does not jump.
struct FailureTable: Sendable {
  var breaker = CircuitBreaker()
  var memory = NegativeMemory()
  var connectivity = Connectivity()
  var random = SystemRandomNumberGenerator()
  /// By origin, for who waits until one has tried whether it is well again.
  var trials: [String: TrialEnd] = [:]
  /// Who begins anew when an origin is there again.
  var vigil = OriginVigil()

  /// An origin answered; what it said does not matter.
  ///
  /// - Returns: Who goes on, after having waited until one has tried it, or for an answer to anybody.
  mutating func answered(_ origin: String, at now: Duration) -> Release {
    let wasLeftAlone = breaker.needsTrial(origin)
    breaker.answered(origin)
    return Release(
      trial: trials.removeValue(forKey: origin),
      woken: vigil.returned(origin, wasLeftAlone: wasLeftAlone, at: now)
    )
  }

  /// A load begins.
  ///
  /// - Returns: The number of the trial that it is, where it tries a dead network; what is on this machine tries none.
  mutating func began(_ url: ImageURL, at now: Duration) -> Int? {
    guard connectivity.isDead, !url.isLoopback else { return nil }
    return connectivity.began(at: now)
  }

  /// Whether nobody gets through to a URL for now, so that trying again is of no use.
  func isOutOfReach(_ url: ImageURL, at now: Duration) -> Bool {
    connectivity.isOffline(at: now) && !url.isLoopback
  }

  /// Takes note of what a try says of the network.
  ///
  /// - Parameters:
  ///   - url: What was asked for.
  ///   - error: How it failed.
  ///   - asked: Where redirects led.
  ///   - hasProgressed: Whether a good part of what was asked for has come.
  ///   - begun: When its request went out; nil where it failed at once.
  ///   - trial: The number of the trial that it was, where it tried a dead network.
  ///   - now: The time.
  /// - Returns: Whether nothing gets through any more, or something does again.
  mutating func judgeNetwork(
    _ url: ImageURL,
    _ error: LoadError,
    asked: ImageURL,
    hasProgressed: Bool = false,
    begun: Duration? = nil,
    trial: Int? = nil,
    at now: Duration
  ) -> Bool {
    // Where nothing is learned, the next may try.
    defer { connectivity.gaveUp(trial, at: now) }
    // The page that wants a login comes from one host, in place of what any host has.
    if error.suspectsCaptivePortal {
      return !url.isLoopback && connectivity.sawPage(url.host, trial: trial, at: now)
    }
    let isRedirected = asked.origin != url.origin
    // What is on this machine says nothing about the network.
    let hasAnswered =
      isRedirected && !url.isLoopback
      || !asked.isLoopback && (hasProgressed || error.status != nil || error.code == .notAnImage)
    var isTurn = hasAnswered && connectivity.heard(isImage: hasProgressed, at: now)
    let begun = begun ?? now
    if Connectivity.counts(error, after: now - begun), !hasProgressed, !asked.isLoopback,
      connectivity.failed(asked.host, begun: begun, trial: trial, at: now)
    {
      isTurn = true
    }
    return isTurn
  }

  /// How long to wait before the next try, nil to give up; and who goes on.
  mutating func wait(
    after error: LoadError,
    of url: ImageURL,
    _ isTrial: Bool,
    speaksAgainstAll: Bool,
    redirectedAt begun: Duration? = nil,
    tries: Int?,
    _ schedule: RetrySchedule,
    at now: Duration
  ) -> (Duration?, Release) {
    // Who tries an origin that is in doubt, does so once.
    let isLast = speaksAgainstAll && isTrial && breaker.doubts(url.origin)
    var release = Release()
    if speaksAgainstAll {
      breaker.failed(
        url.origin,
        error,
        isTrial: isTrial,
        isAgain: tries ?? 1 > 1,
        redirectedAt: begun,
        at: now,
        using: &random
      )
    } else if error.code != .unavailable {
      release = answered(url.origin, at: now)
    } else if isTrial {
      // What this program is short of says nothing of anybody.
      breaker.gaveUp(url.origin)
      vigil.gaveUp(url.origin)
    }
    if isTrial || !speaksAgainstAll {
      release.trial = release.trial ?? trials.removeValue(forKey: url.origin)
    }
    guard let tries, !isLast, case .wait(let wait) = schedule.step(after: error, tries: tries, using: &random)
    else {
      return (nil, release)
    }
    return (wait, release)
  }
}
