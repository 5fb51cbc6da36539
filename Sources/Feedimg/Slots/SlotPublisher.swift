import FeedimgModel
import FeedimgPipeline
import FeedimgSystem
import Synchronization

/// Publishes the state of a slot to all its watchers; each sees the latest and may miss earlier ones.
///
/// A watcher reads the state only when it is about to use it. So a state of an earlier binding never waits in
/// a queue.
final class SlotPublisher: Sendable {
  private struct State {
    var slot = SlotState()
    var isClosed = false
  }

  private let state = Mutex(State())
  private let watchers = Waiters<Void>()

  var latest: Presentation? { state.withLock { $0.slot.latest } }

  /// Returns the requested pixels; nil for none, and if the binding is outdated.
  func request(_ binding: SlotState.Binding) -> DecodeRequest? {
    state.withLock { $0.slot.binding == binding ? $0.slot.latest?.request : nil }
  }

  /// Returns whether the binding is still the latest; for nil, whether nothing is bound.
  func isCurrent(_ binding: SlotState.Binding?) -> Bool {
    state.withLock { state in
      guard let binding, let current = state.slot.binding else { return binding == state.slot.binding }
      return current.isSameCall(as: binding)
    }
  }

  /// Ends the sequences of all watchers.
  func close() {
    state.withLock { $0.isClosed = true }
    watchers.resumeAll()
  }

  /// Waits for a presentation newer than a version.
  ///
  /// - Returns: The latest presentation and its version; nil if the slot is gone or the task cancelled.
  func next(after version: Int) async -> (presentation: Presentation, version: Int)? {
    while !Task.isCancelled {
      let (news, isClosed) = state.withLock { state in
        let news = state.slot.version > version ? state.slot.latest.map { ($0, state.slot.version) } : nil
        return (news, state.isClosed)
      }
      if let news { return news }
      guard !isClosed else { return nil }
      await watchers.wait {
        state.withLock { $0.isClosed || $0.slot.version > version && $0.slot.latest != nil } ? () : nil
      }
    }
    return nil
  }

  /// Changes the state under the lock; the body must do nothing else.
  func change<Value: Sendable>(_ body: (inout SlotState) -> Value) -> Value {
    let (value, isNews) = state.withLock { state in
      let before = state.slot.version
      let value = body(&state.slot)
      return (value, state.slot.version != before)
    }
    if isNews { watchers.resumeAll() }
    return value
  }

  /// See ``SlotState/update(_:_:)``.
  func update(_ binding: SlotState.Binding, _ body: (inout Presentation) -> Void) {
    change { $0.update(binding, body) }
  }
}
