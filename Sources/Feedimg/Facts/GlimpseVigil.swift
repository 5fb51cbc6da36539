import FeedimgModel
import Synchronization

/// Sees to it that what was decided over a network that was there for a moment alone is decided anew.
///
/// Decisions follow the network as it is, while a change for the better, or to none at all, is told only when it has
/// lasted. Where it goes back before, nothing is told at all, and who decided meanwhile would never hear that it is over.
final class GlimpseVigil: Sendable {
  private struct State {
    /// What was seen and not told; of several, one that packets may have gone over.
    var glimpsed: NetworkState?
    var timer: Task<Void, Never>?
    /// Tells timers apart.
    var timers = 0
  }

  /// No change is held back for so long.
  static let firstWait = Duration.milliseconds(1500)
  /// Where it goes on to be another one than was told, it is looked at less and less often.
  static let greatestWait = Duration.seconds(60)

  private let time: MonotonicTime
  /// Guards what was seen; nothing is called within.
  private let state = Mutex(State())

  init(_ time: MonotonicTime) { self.time = time }

  deinit { state.withLock { $0.timer }?.cancel() }

  /// A decision has seen another network than was told.
  ///
  /// - Parameters:
  ///   - seen: That network.
  ///   - isOver: Whether the network is by now what was told; asked when it is time.
  ///   - end: Called with what was seen, once it is.
  func note(
    _ seen: NetworkState,
    isOver: @escaping @Sendable () -> Bool,
    end: @escaping @Sendable (NetworkState) -> Void
  ) {
    state.withLock { state in
      if state.glimpsed == nil || seen.isReachable { state.glimpsed = seen }
      guard state.timer == nil else { return }
      state.timers += 1
      let (time, number) = (time, state.timers)
      state.timer = Task { [weak self] in
        var wait = Self.firstWait
        repeat {
          guard (try? await time.sleep(wait)) != nil else { break }
          wait = min(wait * 2, Self.greatestWait)
        } while !isOver()
        if let glimpsed = self?.finish(number) { end(glimpsed) }
      }
    }
  }

  /// The network was told anew, so that all is decided anew.
  func told() {
    let timer = state.withLock { state in
      state.glimpsed = nil
      return state.timer.take()
    }
    timer?.cancel()
  }

  /// What was seen; nil where something has been told meanwhile.
  private func finish(_ number: Int) -> NetworkState? {
    state.withLock { state in
      guard state.timers == number, state.timer != nil else { return nil }
      state.timer = nil
      return state.glimpsed.take()
    }
  }
}
