import Synchronization

/// What comes first of a load: the beginning of its answer, or its end.
final class Opening<First: Sendable>: Sendable {
  private struct State {
    var first: First?
    var waiter: CheckedContinuation<First, Never>?
  }

  /// Guards what came and who waits, who is resumed outside.
  private let state = Mutex(State())

  /// Whether something has come.
  var isSettled: Bool { state.withLock { $0.first != nil } }

  /// Tells what came; only the first counts.
  func settle(_ first: First) {
    let waiter = state.withLock { state in
      guard state.first == nil else { return nil as CheckedContinuation<First, Never>? }
      state.first = first
      return state.waiter.take()
    }
    waiter?.resume(returning: first)
  }

  /// What came; waits for it, in one task alone.
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
  /// Does what settles it in a task of its own, which the calling task cancels with itself.
  ///
  /// - Parameter work: Settles it at the latest when it ends.
  /// - Returns: What came first, and what cancels the work.
  static func of(
    _ work: @escaping @Sendable (Opening) async -> Void
  ) async -> (first: First, leave: @Sendable () -> Void) {
    let opening = Opening()
    let task = Task { await work(opening) }
    let first = await withTaskCancellationHandler {
      await opening.first()
    } onCancel: {
      task.cancel()
    }
    return (first, { task.cancel() })
  }
}
