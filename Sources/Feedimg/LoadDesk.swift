import FeedimgModel
import Synchronization

/// Shares one load of a key among all who ask for it while it runs.
///
/// The load belongs to nobody: any of those who wait may leave without disturbing the others, and the last one
/// out stops it.
final class LoadDesk<Answer: Sendable>: Sendable {
  typealias Outcome = Result<Answer, LoadError>

  /// What a load came to, for one of those who wait.
  struct Share: Sendable {
    let answer: Answer
    /// Whether this is the first of those who are answered; each run has one, so that its bytes count once.
    let isFirst: Bool
  }

  private struct State {
    var table = LoadTable()
    var continuations: [LoadTable.Waiter: CheckedContinuation<Result<Share, LoadError>, Never>] = [:]
    var tasks: [LoadTable.Run: Task<Void, Never>] = [:]
  }

  /// Guards who waits and what runs; continuations are resumed and tasks cancelled outside.
  private let state = Mutex(State())

  /// Joins the running load of a key, or starts one.
  ///
  /// - Throws: What the load throws, or `cancelled` as soon as the calling task is cancelled.
  func answer(
    for key: String,
    by load: @escaping @Sendable () async -> Outcome
  ) async throws(LoadError) -> Share {
    let waiter = state.withLock { $0.table.issue() }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { enter(key, waiter, $0, load) }
    } onCancel: {
      leave(waiter)
    }
    state.withLock { $0.table.forget(waiter) }
    return try outcome.get()
  }

  /// How many wait for a key now.
  func count(of key: String) -> Int { state.withLock { $0.table.count(of: key) } }

  private func enter(
    _ key: String,
    _ waiter: LoadTable.Waiter,
    _ continuation: CheckedContinuation<Result<Share, LoadError>, Never>,
    _ load: @escaping @Sendable () async -> Outcome
  ) {
    let joined = state.withLock { state in
      let joined = state.table.join(key, waiter)
      switch joined {
      case .gone: break
      case .join: state.continuations[waiter] = continuation
      case .start(let run):
        state.continuations[waiter] = continuation
        state.tasks[run] = Task { self.finish(run, await load()) }
      }
      return joined
    }
    if joined == .gone { continuation.resume(returning: .failure(Self.cancelled)) }
  }

  private func leave(_ waiter: LoadTable.Waiter) {
    let (continuation, task) = state.withLock { state in
      let continuation = state.continuations.removeValue(forKey: waiter)
      guard case .stop(let run) = state.table.leave(waiter) else {
        return (continuation, nil as Task<Void, Never>?)
      }
      return (continuation, state.tasks.removeValue(forKey: run))
    }
    task?.cancel()
    continuation?.resume(returning: .failure(Self.cancelled))
  }

  private func finish(_ run: LoadTable.Run, _ outcome: Outcome) {
    let continuations = state.withLock { state in
      state.tasks[run] = nil
      return state.table.finish(run).compactMap { state.continuations.removeValue(forKey: $0) }
    }
    for (index, continuation) in continuations.enumerated() {
      continuation.resume(returning: outcome.map { Share(answer: $0, isFirst: index == 0) })
    }
  }

  private static var cancelled: LoadError { LoadError(.cancelled, message: "the load was cancelled") }
}
