import FeedimgModel
import Synchronization

/// Who tries a server that was left alone, and what others wait for.
extension FailureDesk {
  /// Whether a request to an origin may go out now, perhaps insisting, and whether others then wait for its answer.
  func admit(_ origin: String, insisting: Bool = false) -> LoadTry.Admission? {
    let now = time.now()
    return state.withLock { state in
      guard state.breaker.verdict(origin, insisting: insisting, at: now) == .ask else { return nil }
      return state.breaker.needsTrial(origin) ? .trial : .free
    }
  }

  /// The answer of who tries an origin has begun to come.
  func trialAnswered(_ origin: String) { endTrial(origin) { $0.trialAnswered(origin) } }

  /// Who tries an origin has stopped before it knew more.
  func trialStopped(_ origin: String) { endTrial(origin) { $0.gaveUp(origin) } }

  private func endTrial(_ origin: String, _ note: (inout CircuitBreaker) -> Void) {
    let trial = state.withLock { state in
      note(&state.breaker)
      return state.trials.removeValue(forKey: origin)
    }
    trial?.tell()
  }
}
