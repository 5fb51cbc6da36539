import Feedimg
import Synchronization

/// The steps of one load, for the fields of its response.
final class LoadRecord: LoadObserving {
  struct State {
    /// The time of each stage so far.
    var timing: ServerTiming
    /// Whether the image was cached.
    var isCached = false
    /// Whether the server validated the cached image.
    var isValidated = false
    /// The status of the latest response of the server, if any.
    var status: Int?
  }

  /// Guards the record, as steps come from several threads.
  private let state: Mutex<State>
  /// Whether the validation comes before the response; otherwise it runs afterwards.
  private let isReload: Bool

  init(isReload: Bool, at start: ContinuousClock.Instant = .now) {
    state = Mutex(State(timing: ServerTiming(at: start)))
    self.isReload = isReload
  }

  /// The steps so far.
  var current: State { state.withLock { $0 } }

  func observe(_ event: LoadEvent) {
    // Progress is frequent and begins no stage.
    if case .progress = event.step { return }
    state.withLock { state in
      switch event.step {
      case .found(let source):
        state.isCached = true
        state.timing.source = source
      case .responded(let status): state.status = status
      case .revalidated, .notRevalidated: state.isValidated = true
      default: break
      }
      // A validation after the response takes no time of the client.
      guard isReload || !state.isCached else { return state.timing.enter(nil, at: event.time) }
      state.timing.enter(event.step.stage, at: event.time)
    }
  }
}

extension LoadEvent.Step {
  /// The stage that the step begins; nil for a step that begins none.
  fileprivate var stage: ServerTiming.Stage? {
    switch self {
    case .decided: .cache
    case .joined: .join
    case .missed, .queued, .paused, .retried: .queue
    case .started, .redirected: .connect
    case .requested: .wait
    case .responded, .resumed, .progress: .receive
    case .verified: .store
    case .found, .decoded, .stored, .notStored, .revalidated, .notRevalidated: nil
    case .finished, .failed, .cancelled: nil
    }
  }
}
