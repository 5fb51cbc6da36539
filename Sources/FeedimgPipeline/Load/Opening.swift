import Synchronization

/// The first event of a load: the beginning of its response, or its end.
final class Opening<First: Sendable>: Sendable {
  private struct State {
    var first: First?
    var waiter: CheckedContinuation<First, Never>?
  }

  /// Guards the event and the waiting task, which resumes outside the lock.
  private let state = Mutex(State())

  /// Whether the event has happened.
  var isSettled: Bool { state.withLock { $0.first != nil } }

  /// Sets the event; only the first call counts.
  func settle(_ first: First) {
    let waiter = state.withLock { state in
      guard state.first == nil else { return nil as CheckedContinuation<First, Never>? }
      state.first = first
      return state.waiter.take()
    }
    waiter?.resume(returning: first)
  }

  /// Waits for the event; only one task may wait.
  func first() async -> First {
    await withCheckedContinuation { continuation in
      let first = state.withLock { state in
        if state.first == nil { state.waiter = continuation }
        return state.first
      }
      if let first { continuation.resume(returning: first) }
    }
  }
}

extension Opening {
  /// Starts a task that settles the event, and waits for the event.
  ///
  /// Cancelling the calling task cancels the started task.
  ///
  /// - Parameter work: Settles the event before it ends.
  /// - Returns: The event, and a closure that cancels the work.
  static func of(
    _ work: @escaping @Sendable (Opening) async -> Void
  ) async -> (first: First, leave: @Sendable () -> Void) {
    let opening = Opening()
    let task = PipelineActor.task { await work(opening) }
    let first = await withTaskCancellationHandler {
      await opening.first()
    } onCancel: {
      task.cancel()
    }
    return (first, { task.cancel() })
  }
}
