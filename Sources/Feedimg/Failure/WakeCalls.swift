import FeedimgModel
import Synchronization

/// Has somebody be woken when origins that failed it are there again.
///
/// Each origin counts for itself: who has been woken in vain as it was there again, is woken later the next time.
final class WakeCalls: Sendable {
  private struct Call {
    /// What tells it from those before it.
    var id = 0
    /// Nil while it is not waited for.
    var number: Int?
    var replays = 0
    var hasTried = false
    /// The images that it has failed, by their keys, wherever they redirect from.
    var images: Set<String> = []
  }

  private struct State {
    var calls: [String: Call] = [:]
    var issued = 0
    var isOver = false
  }

  private let failures: FailureDesk
  private let priority: @Sendable () -> LoadPriority?
  /// Guards which origins are waited for; taken before what guards the failures.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - failures: Tells of origins.
  ///   - priority: How urgent it is; nil where nobody need be woken.
  init(_ failures: FailureDesk, priority: @escaping @Sendable () -> LoadPriority?) {
    (self.failures, self.priority) = (failures, priority)
  }

  deinit { close() }

  /// Waits for the origins that a failure is about, if it is about any: also for that of the thumbnail.
  ///
  /// - Parameters:
  ///   - error: The failure.
  ///   - wake: Called once for each; must not wait for anything.
  func wait(after error: LoadError, _ wake: @escaping @Sendable () -> Void) {
    for error in [error] + error.ofThumbnail { waitForOne(after: error, wake) }
  }

  private func waitForOne(after error: LoadError, _ wake: @escaping @Sendable () -> Void) {
    guard CircuitBreaker.counts(error), let origin = error.blamedOrigin else { return }
    state.withLock { state in
      guard !state.isOver else { return }
      var call = state.calls[origin] ?? Call()
      if let url = error.url { call.images.insert(url.key) }
      state.calls[origin] = call
      guard call.number == nil else { return }
      state.issued += 1
      call.id = state.issued
      let waiter = OriginVigil.Waiter(priority: priority) { [weak self, id = call.id] reason in
        self?.woken(id, for: origin, reason)
        wake()
      }
      call.number = failures.wait(
        for: origin,
        waiter,
        after: error,
        replays: call.replays,
        hasTried: call.hasTried
      )
      call.hasTried = false
      state.calls[origin] = call
    }
  }

  /// Waits for none any more, until it waits again.
  func leave() {
    state.withLock { state in
      for (origin, call) in state.calls {
        guard let number = call.number else { continue }
        failures.leave(number, of: origin)
        state.calls[origin]?.number = nil
      }
    }
  }

  /// The image was had, so that it was not woken in vain for its origin, nor for those that it redirected to.
  func forget(_ url: ImageURL) {
    state.withLock { state in
      state.calls = state.calls.filter { origin, call in
        call.number != nil || origin != url.origin && !call.images.contains(url.key)
      }
    }
  }

  /// Waits for none ever again.
  func close() {
    state.withLock { $0.isOver = true }
    leave()
  }

  private func woken(_ id: Int, for origin: String, _ reason: OriginVigil.Reason) {
    state.withLock { state in
      // It may have left, and waited anew, since it was chosen.
      guard state.calls[origin]?.id == id else { return }
      state.calls[origin]?.number = nil
      switch reason {
      case .trial: state.calls[origin]?.hasTried = true
      case .rested:
        state.calls[origin]?.hasTried = true
        state.calls[origin]?.replays += 1
      case .return: state.calls[origin]?.replays += 1
      }
    }
  }
}

extension LoadError {
  /// The server that failed, where it is known.
  var blamedOrigin: String? { origin ?? url?.origin }
}
