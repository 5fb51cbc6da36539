import FeedimgModel
import Synchronization

/// Tells the service that an image has become more urgent since it was asked for.
///
/// A request of HTTP/1.1 says once how urgent it is (RFC 9218 §7 is for later versions). So the image is asked for once
/// more: the service loads it once however many ask, as urgently as the most urgent of them. What comes of the other
/// request is of no use, and it ends with the first one.
final class ServiceUrgency: Sendable {
  private struct State {
    var raised: LoadPriority?
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let first: LoadPriority
  private let ask: @Sendable (LoadPriority) async -> Void
  /// Guards what else is asked for; tasks are cancelled outside.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - first: What the first request says, which stays.
  ///   - ask: Asks once more, until that is answered or called off.
  init(beside first: LoadPriority, asking ask: @escaping @Sendable (LoadPriority) async -> Void) {
    (self.first, self.ask) = (first, ask)
  }

  /// Takes note of how urgent it is, as it says while nobody else takes note.
  func follow(_ priority: () -> LoadPriority) {
    let old = state.withLock { state -> Task<Void, Never>? in
      let present = priority()
      let raised = present > first ? present : nil
      guard !state.isOver, state.raised != raised else { return nil }
      defer { (state.raised, state.task) = (raised, raised.map { more in Task { await ask(more) } }) }
      return state.task
    }
    old?.cancel()
  }

  func end() {
    let task = state.withLock { state in
      state.isOver = true
      return state.task.take()
    }
    task?.cancel()
  }
}
