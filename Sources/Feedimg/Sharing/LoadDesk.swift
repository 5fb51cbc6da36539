import FeedimgModel
import Synchronization

/// Shares one load of a key among all who ask for it while it runs.
///
/// The load belongs to nobody: any of those who wait may leave without disturbing the others, also the one who came
/// first, and the last one out stops it. It is as urgent as the most urgent of them.
final class LoadDesk<Answer: Sendable>: Sendable {
  typealias Outcome = Result<Answer, LoadError>
  typealias Load = @Sendable (LoadRun) async -> Outcome

  /// What a load came to, for one of those who wait.
  struct Share: Sendable {
    let answer: Answer
    /// Whether this is the first of those who are answered; each run has one, so that its bytes count once.
    let isFirst: Bool
  }

  private struct State {
    var table = LoadTable()
    var continuations: [LoadTable.Waiter: CheckedContinuation<Result<Share, LoadError>, Never>] = [:]
    var runs: [LoadTable.Run: (run: LoadRun, task: Task<Void, Never>)] = [:]

    /// Tells a run how urgent it is now, and who is first of those who wait.
    func refresh(_ run: LoadTable.Run) -> LoadRun? {
      guard let priority = table.priority(of: run), let first = table.first(of: run),
        let handle = runs[run]?.run
      else { return nil }
      handle.note(priority)
      handle.note(first: first)
      return handle
    }
  }

  /// Guards who waits and what runs; continuations are resumed and tasks cancelled outside.
  private let state = Mutex(State())
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: Where loads run; nil for wherever tasks do.
  init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Joins the running load of a key, or starts one.
  ///
  /// - Parameters:
  ///   - key: What is the same for all who share.
  ///   - wish: How urgently it is wanted.
  ///   - progress: Called as bytes arrive, with the latest state at once where the load runs already.
  ///   - arrival: Called as soon as the body begins to come, where the load tells; at once where it has.
  ///   - load: What to do, unless it is being done.
  /// - Returns: What the load came to.
  /// - Throws: What the load throws, or `cancelled` as soon as the calling task is cancelled.
  func answer(
    for key: String,
    wish: LoadWish = LoadWish(.visible),
    progress: LoadRun.Listener? = nil,
    arrival: LoadRun.Audience? = nil,
    by load: @escaping Load
  ) async throws(LoadError) -> Share {
    let waiter = state.withLock { $0.table.issue() }
    let listener = wish.listen { [weak self] in self?.reprioritise(waiter, wish) }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { enter(key, waiter, wish, (progress, arrival), $0, load) }
    } onCancel: {
      leave(waiter)
    }
    wish.forget(listener)
    state.withLock { $0.table.forget(waiter) }
    return try outcome.get()
  }

  /// Whether nothing runs and nobody waits.
  var isIdle: Bool {
    state.withLock { $0.table.isEmpty && $0.continuations.isEmpty && $0.runs.isEmpty }
  }

  /// How many wait now, for whatever it is.
  var count: Int { state.withLock { $0.table.count } }

  /// How many wait for a key now.
  func count(of key: String) -> Int { state.withLock { $0.table.count(of: key) } }

  private func enter(
    _ key: String,
    _ waiter: LoadTable.Waiter,
    _ wish: LoadWish,
    _ ears: (progress: LoadRun.Listener?, arrival: LoadRun.Audience?),
    _ continuation: CheckedContinuation<Result<Share, LoadError>, Never>,
    _ load: @escaping Load
  ) {
    let (joined, handle) = state.withLock { state in
      let joined = state.table.join(key, waiter, wish.priority)
      switch joined {
      case .gone: return (joined, nil as LoadRun?)
      case .join(let run):
        state.continuations[waiter] = continuation
        return (joined, state.refresh(run))
      case .start(let run):
        state.continuations[waiter] = continuation
        let handle = LoadRun(wish.priority)
        let task = Task(executorPreference: executor) {
          let outcome = await load(handle)
          handle.arrival?.body.end(outcome.failure)
          self.finish(run, outcome)
        }
        state.runs[run] = (handle, task)
        return (joined, state.refresh(run))
      }
    }
    if case .join = joined { LoadWitness.tell(.joined) }
    guard let handle else {
      if joined == .gone { continuation.resume(returning: .failure(Self.cancelled)) }
      return
    }
    if let progress = ears.progress { handle.listen(waiter, progress) }
    if let arrival = ears.arrival { handle.listen(waiter, toArrival: arrival) }
    handle.announce()
  }

  private func reprioritise(_ waiter: LoadTable.Waiter, _ wish: LoadWish) {
    let handle = state.withLock { state in
      state.table.setPriority(waiter, wish.priority).flatMap { state.refresh($0) }
    }
    handle?.announce()
  }

  private func leave(_ waiter: LoadTable.Waiter) {
    let (continuation, handle, task) = state.withLock { state in
      let continuation = state.continuations.removeValue(forKey: waiter)
      switch state.table.leave(waiter) {
      case .nothing: return (continuation, nil as LoadRun?, nil as Task<Void, Never>?)
      case .keep(let run): return (continuation, state.refresh(run), nil)
      case .stop(let run):
        let ended = state.runs.removeValue(forKey: run)
        // Within, so that who begins another run finds it left.
        ended?.run.leave()
        return (continuation, nil, ended?.task)
      }
    }
    task?.cancel()
    handle?.forget(waiter)
    handle?.announce()
    continuation?.resume(returning: .failure(Self.cancelled))
  }

  private func finish(_ run: LoadTable.Run, _ outcome: Outcome) {
    let continuations = state.withLock { state in
      state.runs[run] = nil
      return state.table.finish(run).compactMap { state.continuations.removeValue(forKey: $0) }
    }
    for (index, continuation) in continuations.enumerated() {
      continuation.resume(returning: outcome.map { Share(answer: $0, isFirst: index == 0) })
    }
  }

  private static var cancelled: LoadError { LoadError(.cancelled, message: "the load was cancelled") }
}

extension Result {
  /// Why there is no success, if there is none.
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
