package import FeedimgModel
import Synchronization

/// What one caller wants of a load, and how urgently; it may change while the load waits or runs.
package final class LoadWish: Sendable {
  private struct State {
    var priority: LoadPriority
    var asksForOriginal = false
    var listeners: [Int: @Sendable () -> Void] = [:]
    var issued = 0
  }

  /// Guards the wish; those who listen are called outside.
  private let state: Mutex<State>

  package init(_ priority: LoadPriority) { state = Mutex(State(priority: priority)) }

  package var priority: LoadPriority {
    get { state.withLock { $0.priority } }
    set {
      let listeners = state.withLock { state in
        defer { state.priority = newValue }
        return state.priority == newValue ? [] : Array(state.listeners.values)
      }
      for listener in listeners { listener() }
    }
  }

  /// Whether the person who looks has asked for the original, whatever the table says.
  var asksForOriginal: Bool { state.withLock { $0.asksForOriginal } }

  /// Wants the original from now on.
  func askForOriginal() {
    let listeners = state.withLock { state in
      defer { state.asksForOriginal = true }
      return state.asksForOriginal ? [] : Array(state.listeners.values)
    }
    for listener in listeners { listener() }
  }

  /// Tells a listener of changes; an image may be loaded and decoded at the same time.
  ///
  /// - Returns: To be forgotten by.
  func listen(_ onChange: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.issued += 1
      state.listeners[state.issued] = onChange
      return state.issued
    }
  }

  func forget(_ listener: Int) { state.withLock { $0.listeners[listener] = nil } }
}
