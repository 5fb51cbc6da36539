import FeedimgModel
import Synchronization

/// Who begins anew when an origin that failed is there again.
extension FailureDesk {
  /// The next time that somebody is woken to try an origin.
  struct Alarm: Sendable {
    let due: Duration
    let task: Task<Void, Never>
  }

  /// Wakes somebody once an origin is there again, or so that it finds out whether that is so.
  ///
  /// - Parameters:
  ///   - origin: Which one.
  ///   - waiter: Who is woken, if not by then of no urgency.
  ///   - error: How the origin has failed it.
  ///   - replays: How often it was woken for it before, in vain, but for trials.
  ///   - hasTried: Whether it was woken last to try the origin, left alone or not.
  /// - Returns: The number to leave with.
  func wait(
    for origin: String,
    _ waiter: OriginVigil.Waiter,
    after error: LoadError,
    replays: Int,
    hasTried: Bool
  ) -> Int {
    let now = time.now()
    let number = state.withLock { state in
      state.vigil.wait(
        for: origin,
        waiter,
        after: error,
        replays: replays,
        hasTried: hasTried,
        isLeftAlone: state.breaker.needsTrial(origin),
        at: now
      )
    }
    setAlarm()
    return number
  }

  func leave(_ number: Int, of origin: String) {
    state.withLock { $0.vigil.leave(number, of: origin) }
    setAlarm()
  }

  /// An origin has answered somebody else, such as the service.
  func returned(_ origin: String) {
    let now = time.now()
    state.withLock { $0.answered(origin, at: now) }.tell()
    setAlarm()
  }

  /// Why not to wait for the server of a URL, as that is silent and left alone; nil where it may be asked now, or soon.
  func silence(of url: ImageURL) -> LoadError? {
    let now = time.now()
    return state.withLock { state in
      guard let error = state.breaker.lastError(url.origin), error.isSilence else { return nil }
      return switch state.breaker.outlook(url.origin, at: now) {
      case .ask: nil
      case .leaveAlone(let wait, let error): Self.refusal(url, error, for: wait)
      case .awaitTrial: Self.refusal(url, error)
      }
    }
  }

  /// Sees to it that somebody is woken in time; to be called whenever that may have changed.
  func setAlarm() {
    let old = alarm.withLock { alarm -> Task<Void, Never>? in
      // Under the lock, or what was so a moment ago might take the place of what is so now.
      let due = state.withLock { $0.vigil.isEmpty ? nil : $0.vigil.due($0.breaker) }
      guard due != alarm?.due else { return nil }
      let old = alarm?.task
      alarm = due.map { due in
        let task = Task { [weak self, time] in
          let wait = due - time.now()
          if wait > .zero { guard (try? await time.sleep(wait)) != nil else { return } }
          guard !Task.isCancelled else { return }
          self?.ring(due)
        }
        return Alarm(due: due, task: task)
      }
      return old
    }
    old?.cancel()
  }

  /// Wakes for each origin whose time has come who is to try it.
  private func ring(_ due: Duration) {
    alarm.withLock { if $0?.due == due { $0 = nil } }
    let now = time.now()
    for (origin, waiting) in state.withLock({ $0.vigil.candidates($0.breaker, at: now) }) {
      let urgent = waiting.inOrder
      let (chosen, isLeftAlone) = state.withLock { state in
        // Who need not be woken asks by itself when that changes.
        let wanted = Set(urgent.map(\.number))
        for entry in waiting where !wanted.contains(entry.number) {
          state.vigil.leave(entry.number, of: origin)
        }
        let chosen = urgent.first { state.vigil.tries($0.number, origin, at: now) }
        return (chosen, state.breaker.needsTrial(origin))
      }
      chosen?.waiter.wake(isLeftAlone ? .trial : .rested)
    }
    setAlarm()
  }
}

extension LoadError {
  /// Whether nothing at all came back from a server whose name is known.
  var isSilence: Bool { Connectivity.counts(self) && code != .unknownHost }
}
