import FeedimgModel
import Synchronization

/// Tells the service when the priority of a requested image changes.
///
/// An HTTP/1.1 request cannot change its priority later (RFC 9218 §7 applies to later versions). A separate
/// request therefore sends the new priority. Only one such request runs at a time, so that an older priority
/// never overtakes a newer one.
final class ServicePriorityUpdater: Sendable {
  private struct State {
    /// The priority last sent to the service.
    var sent: LoadPriority
    var wanted: LoadPriority
    var task: Task<Void, Never>?
    var isOver = false

    /// Returns the priority to send; nil if the service has the latest one.
    mutating func next() -> LoadPriority? {
      guard !isOver, sent != wanted else { return nil }
      sent = wanted
      return wanted
    }
  }

  private let send: @Sendable (LoadPriority) async -> Void
  /// Guards the priorities; tasks are cancelled outside the lock.
  private let state: Mutex<State>

  /// - Parameters:
  ///   - first: The priority in the request for the image.
  ///   - send: Sends a priority; returns when the request has succeeded or failed.
  init(after first: LoadPriority, sending send: @escaping @Sendable (LoadPriority) async -> Void) {
    self.send = send
    state = Mutex(State(sent: first, wanted: first))
  }

  /// Records the present priority, which is read under the lock.
  func follow(_ priority: () -> LoadPriority) {
    state.withLock { state in
      state.wanted = priority()
      guard state.task == nil, let first = state.next() else { return }
      state.task = Task { await sendAll(from: first) }
    }
  }

  func end() {
    let task = state.withLock { state in
      state.isOver = true
      return state.task.take()
    }
    task?.cancel()
  }

  private func sendAll(from first: LoadPriority) async {
    var next = first as LoadPriority?
    while let priority = next {
      await send(priority)
      next = state.withLock { state in
        let next = state.next()
        if next == nil { state.task = nil }
        return next
      }
    }
  }
}
