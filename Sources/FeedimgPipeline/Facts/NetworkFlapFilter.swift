import FeedimgModel
import FeedimgSystem
import Synchronization

/// Repeats decisions that used a short-lived network state.
///
/// A decision reads the current network, but a change is reported only after it has lasted for some time. If
/// the network changes back sooner, no change is reported. This filter then tells the loads that decided in
/// between. Any thread may use it.
final class NetworkFlapFilter: Sendable {
  private struct State {
    /// An unreported network that a decision used; of several, preferably one that packets may have used.
    var seen: NetworkState?
    var timer: Task<Void, Never>?
    /// Distinguishes the timer from earlier ones.
    var timers = 0
  }

  /// The first wait, which is longer than any delay of a reported change.
  static let firstWait = Duration.milliseconds(1500)
  /// The longest wait between two checks, while the network differs from the reported one.
  static let maximumWait = Duration.seconds(60)

  private let time: MonotonicTime
  /// Guards the unreported network.
  private let state = Mutex(State())

  init(_ time: MonotonicTime) { self.time = time }

  deinit { state.withLock { $0.timer }?.cancel() }

  /// Records that a decision used an unreported network.
  ///
  /// - Parameters:
  ///   - seen: That network.
  ///   - isOver: Whether the network equals the reported one again.
  ///   - end: Called with the recorded network when it does.
  func note(
    _ seen: NetworkState,
    isOver: @escaping @PipelineActor @Sendable () -> Bool,
    end: @escaping @PipelineActor @Sendable (NetworkState) -> Void
  ) {
    state.withLock { state in
      if state.seen == nil || seen.isReachable { state.seen = seen }
      guard state.timer == nil else { return }
      state.timers += 1
      let (time, number) = (time, state.timers)
      state.timer = PipelineActor.task { [weak self] in
        var wait = Self.firstWait
        repeat {
          guard (try? await time.sleep(wait)) != nil else { break }
          wait = min(wait * 2, Self.maximumWait)
        } while !isOver()
        if let seen = self?.finish(number) { end(seen) }
      }
    }
  }

  /// Forgets the recorded network, because a reported change repeats all decisions.
  func reported() {
    let timer = state.withLock { state in
      state.seen = nil
      return state.timer.take()
    }
    timer?.cancel()
  }

  /// Returns the recorded network; nil if a change was reported meanwhile.
  private func finish(_ number: Int) -> NetworkState? {
    state.withLock { state in
      guard state.timers == number, state.timer != nil else { return nil }
      state.timer = nil
      return state.seen.take()
    }
  }
}
