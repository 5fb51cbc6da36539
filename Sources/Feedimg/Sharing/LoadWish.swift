import FeedimgModel
import Synchronization

/// How urgently one caller wants a load; it may change while the load waits or runs.
final class LoadWish: Sendable {
  private struct State {
    var priority: LoadPriority
    var onChange: (@Sendable () -> Void)?
  }

  /// Guards the wish; who listens is called outside.
  private let state: Mutex<State>

  init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  var priority: LoadPriority {
    get { state.withLock { $0.priority } }
    set {
      let onChange = state.withLock { state in
        defer { state.priority = newValue }
        return state.priority == newValue ? nil : state.onChange
      }
      onChange?()
    }
  }

  /// Tells one listener of changes, in place of any earlier one.
  func listen(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }
}
