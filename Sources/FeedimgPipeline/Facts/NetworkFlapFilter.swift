import FeedimgModel
import FeedimgSystem
import Synchronization

/// Finds decisions that used a network which soon disappeared; any thread may use it.
///
/// A change of the network is reported only after it has lasted for some time. If the network changes back sooner,
/// no change is reported. The loads that decided in between must decide again.
final class NetworkFlapFilter: Sendable {
  private struct State {
    /// The reported network; nil while the monitor does not watch.
    var reported: NetworkState?
    /// The unreported network that a decision used, a reachable one before an offline one.
    var unreported: NetworkState?
  }

  /// The time after which an unreported network has either been reported or has changed back.
  private static let flapTime = Duration.milliseconds(1500)

  private let time: MonotonicTime
  private let state = Mutex(State())

  init(_ time: MonotonicTime) { self.time = time }

  /// Records the reported network; nil while the monitor does not watch.
  func setReported(_ network: NetworkState?) {
    state.withLock { if network == nil || $0.reported != network { $0 = State(reported: network) } }
  }

  /// Records the network that a decision used.
  ///
  /// `onFlap` is called if that network is never reported.
  func observed(_ seen: NetworkState, onFlap: @escaping @PipelineActor @Sendable (NetworkState) -> Void) {
    let isFirst = state.withLock { state in
      guard let reported = state.reported, reported != seen else { return false }
      defer { if state.unreported == nil || seen.isReachable { state.unreported = seen } }
      return state.unreported == nil
    }
    guard isFirst else { return }
    PipelineActor.task { [weak self, time] in
      let hasSlept = (try? await time.sleep(Self.flapTime)) != nil
      guard let self, let seen = state.withLock({ $0.unreported.take() }), hasSlept else { return }
      onFlap(seen)
    }
  }
}
