import Feedimg
import Synchronization

/// What happened on the way to one image, for the fields that tell of it.
final class LoadRecord: LoadObserving {
  private struct State {
    var timing: ServerTiming
    var hasFound = false
    var wasAsked = false
    var status: Int?
  }

  /// Steps may come from several threads.
  private let state: Mutex<State>
  /// Whether the server is asked before what is cached is shown; else that goes on beside it.
  private let isReload: Bool

  /// - Parameters:
  ///   - isReload: Whether the client wants the server to be asked.
  ///   - start: When the request was there.
  init(isReload: Bool, at start: ContinuousClock.Instant = .now) {
    state = Mutex(State(timing: ServerTiming(at: start)))
    self.isReload = isReload
  }

  /// Where the time went up to now.
  var timing: ServerTiming { state.withLock { $0.timing } }

  /// Whether the image was cached.
  var hasFound: Bool { state.withLock { $0.hasFound } }

  /// Whether a server was asked about what is cached, and its status if it answered.
  var question: (wasAsked: Bool, status: Int?) { state.withLock { ($0.wasAsked, $0.status) } }

  func observe(_ event: LoadEvent) {
    // There are many, and none begins anything.
    if case .progress = event.step { return }
    state.withLock { state in
      switch event.step {
      case .found(let source):
        state.hasFound = true
        state.timing.source = source
      case .answered(let status): state.status = status
      case .revalidated, .notRevalidated: state.wasAsked = true
      default: break
      }
      // What is asked beside showing takes no time of the client's.
      guard isReload || !state.hasFound else { return state.timing.enter(nil, at: event.time) }
      state.timing.enter(event.step.stage, at: event.time)
    }
  }
}

extension LoadEvent.Step {
  /// What the load is at after the step; nil where it is at an end, or at nothing that takes time.
  fileprivate var stage: ServerTiming.Stage? {
    switch self {
    case .decided: .cache
    case .joined: .join
    case .missed, .queued, .paused, .retried: .queue
    case .started, .redirected: .connect
    case .requested: .wait
    case .answered, .resumed, .progress: .receive
    case .verified: .store
    case .found, .decoded, .stored, .notStored, .revalidated, .notRevalidated: nil
    case .finished, .failed, .cancelled: nil
    }
  }
}
