import FeedimgModel
import Synchronization

/// Tells the service how urgent an image has become since it was asked for.
///
/// A request of HTTP/1.1 says once how urgent it is (RFC 9218 §7 is for later versions), so another one says what it is
/// now. One at a time, as what overtook a later word would hold.
final class ServiceUrgency: Sendable {
  private struct State {
    /// What the service was told last.
    var told: LoadPriority
    var wanted: LoadPriority
    var task: Task<Void, Never>?
    var isOver = false

    /// What there is to tell; nil for nothing.
    mutating func next() -> LoadPriority? {
      guard !isOver, told != wanted else { return nil }
      told = wanted
      return wanted
    }
  }

  private let tell: @Sendable (LoadPriority) async -> Void
  /// Guards what is told; tasks are cancelled outside.
  private let state: Mutex<State>

  /// - Parameters:
  ///   - first: What the request for the image says.
  ///   - tell: Says what it is now, and returns when that has been heard or was in vain.
  init(after first: LoadPriority, telling tell: @escaping @Sendable (LoadPriority) async -> Void) {
    self.tell = tell
    state = Mutex(State(told: first, wanted: first))
  }

  /// Takes note of how urgent it is, as it says while nobody else takes note.
  func follow(_ priority: () -> LoadPriority) {
    state.withLock { state in
      state.wanted = priority()
      guard state.task == nil, let first = state.next() else { return }
      state.task = Task { await tellAll(from: first) }
    }
  }

  func end() {
    let task = state.withLock { state in
      state.isOver = true
      return state.task.take()
    }
    task?.cancel()
  }

  private func tellAll(from first: LoadPriority) async {
    var next = first as LoadPriority?
    while let priority = next {
      await tell(priority)
      next = state.withLock { state in
        let next = state.next()
        if next == nil { state.task = nil }
        return next
      }
    }
  }
}
