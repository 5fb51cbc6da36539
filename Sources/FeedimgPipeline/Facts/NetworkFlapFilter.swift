import FeedimgModel
import FeedimgSystem
import Synchronization

/// Has decisions made again that followed a network which was there for a moment only.
///
/// A decision reads the network as it is, while a change is reported only when it has lasted. Where the network goes back
/// before, nothing is reported, and a load that decided meanwhile would never hear of it. For any thread.
final class NetworkFlapFilter: Sendable {
  private struct State {
    /// What was seen and not reported; of several, one that packets may have used.
    var seen: NetworkState?
    var timer: Task<Void, Never>?
    /// Distinguishes timers.
    var timers = 0
  }

  /// No change is held back for so long.
  static let firstWait = Duration.milliseconds(1500)
  /// While the network stays another one, it is looked at less and less often.
  static let greatestWait = Duration.seconds(60)

  private let time: MonotonicTime
  /// Guards what was seen.
  private let state = Mutex(State())

  init(_ time: MonotonicTime) { self.time = time }

  deinit { state.withLock { $0.timer }?.cancel() }

  /// A decision has seen a network that was not reported.
  ///
  /// - Parameters:
  ///   - seen: That network.
  ///   - isOver: Whether the network is again the reported one.
  ///   - end: Called with what was seen, once it is.
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
      state.timer = Task { @PipelineActor [weak self] in
        var wait = Self.firstWait
        repeat {
          guard (try? await time.sleep(wait)) != nil else { break }
          wait = min(wait * 2, Self.greatestWait)
        } while !isOver()
        if let seen = self?.finish(number) { end(seen) }
      }
    }
  }

  /// A change was reported, so that all decisions are made again.
  func reported() {
    let timer = state.withLock { state in
      state.seen = nil
      return state.timer.take()
    }
    timer?.cancel()
  }

  /// What was seen; nil where a change was reported meanwhile.
  private func finish(_ number: Int) -> NetworkState? {
    state.withLock { state in
      guard state.timers == number, state.timer != nil else { return nil }
      state.timer = nil
      return state.seen.take()
    }
  }
}
