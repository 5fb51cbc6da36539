package import FeedimgModel
import Synchronization

/// The options of one caller of a load: its priority, and whether it asks for the original.
///
/// Both may change while the load waits or runs.
package final class LoadHandle: Sendable {
  private struct State {
    var priority: LoadPriority
    var requestsOriginal = false
    var listeners: [Int: @Sendable () -> Void] = [:]
    var lastListener = 0
  }

  /// Guards the values; listeners are called outside the lock.
  private let state: Mutex<State>

  package init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  package var priority: LoadPriority {
    get { state.withLock { $0.priority } }
    set { change { $0.priority = newValue } }
  }

  /// Whether the caller asks for the original, regardless of the policy.
  package var requestsOriginal: Bool { state.withLock { $0.requestsOriginal } }

  /// Asks for the original from now on.
  package func requestOriginal() { change { $0.requestsOriginal = true } }

  private func change(_ body: (inout State) -> Void) {
    let listeners = state.withLock { state in
      let old = (state.priority, state.requestsOriginal)
      body(&state)
      return old == (state.priority, state.requestsOriginal) ? [] : Array(state.listeners.values)
    }
    for listener in listeners { listener() }
  }

  /// Calls a listener after each change.
  ///
  /// - Returns: The number to pass to ``forget(_:)``.
  func listen(_ onChange: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = onChange
      return state.lastListener
    }
  }

  func forget(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }
}
