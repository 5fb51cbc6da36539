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
  func trialAnswered(_ origin: String) {
    let now = time.now()
    endTrial(origin) { state in
      let wasLeftAlone = state.breaker.needsTrial(origin)
      state.breaker.trialAnswered(origin)
      guard wasLeftAlone, !state.breaker.needsTrial(origin) else { return [] }
      return state.vigil.returned(origin, wasLeftAlone: true, at: now)
    }
  }

  /// Who tries an origin has stopped before it knew more.
  func trialStopped(_ origin: String) {
    endTrial(origin) { state in
      state.breaker.gaveUp(origin)
      state.vigil.gaveUp(origin)
      return []
    }
  }

  private func endTrial(_ origin: String, _ note: (inout FailureTable) -> [OriginVigil.Entry]) {
    let release = state.withLock { state in
      let woken = note(&state)
      return Release(trial: state.trials.removeValue(forKey: origin), woken: woken)
    }
    release.tell()
    setAlarm()
  }
}
