import FeedimgModel
import Synchronization

/// Asks about images that may be out of date, each once however many show it and would ask in the same way.
final class RevalidationDesk: Sendable {
  /// The new version; nil where the image is still the same.
  typealias Outcome = Result<FetchedImage?, LoadError>

  private struct Waiter {
    var number: Int
    /// How urgently the answer is wanted; nil where it may come whenever it does.
    var wish: LoadWish?
    var continuation: CheckedContinuation<Outcome?, Never>
  }

  private struct State {
    var table = RevalidationTable()
    var queued: [String: ImageRevalidation] = [:]
    var runs: [String: (run: LoadRun, task: Task<Void, Never>)] = [:]
    var waiters: [String: [Waiter]] = [:]
    var idlers: [CheckedContinuation<Void, Never>] = []
    var issued = 0
    var summary = RevalidationSummary()

    /// That of the most urgent who wait; what nobody waits for is not urgent.
    func priority(of key: String) -> LoadPriority {
      waiters[key]?.compactMap { $0.wish?.priority }.max() ?? .prefetch
    }

    /// Tells a run how urgent it is now; it is announced when no lock is held.
    func refresh(_ key: String) -> LoadRun? {
      guard let run = runs[key]?.run else { return nil }
      run.note(priority(of: key))
      return run
    }
  }

  /// Guards who asks and who waits; continuations are resumed and tasks cancelled outside.
  private let state = Mutex(State())
  private let clock: @Sendable () -> Double

  init(clock: @escaping @Sendable () -> Double) { self.clock = clock }

  /// Asks about an image in the background, unless that is being done or has just been done.
  ///
  /// - Returns: Whether an answer is to be expected.
  func begin(_ revalidation: ImageRevalidation) -> Bool {
    let (key, now) = (revalidation.key, clock())
    let (isAwaited, dropped) = state.withLock { state -> (Bool, [Waiter]) in
      switch state.table.ask(key, at: now) {
      case .start: start(revalidation, .background, &state)
      case .queue(let dropped):
        state.queued[key] = revalidation
        guard let dropped else { break }
        state.queued[dropped] = nil
        state.summary.unfinished += 1
        return (true, state.waiters.removeValue(forKey: dropped) ?? [])
      case .join: break
      case .rest: return (false, [])
      }
      return (true, [])
    }
    for waiter in dropped { waiter.continuation.resume(returning: nil) }
    return isAwaited
  }

  /// How many images it remembers, or holds on to.
  var recordCount: Int {
    state.withLock { $0.table.pastCount + $0.queued.count + $0.runs.count + $0.waiters.count }
  }

  /// Whether an image was asked about so short a while ago that asking again would be in vain.
  func isResting(_ key: String) -> Bool {
    let now = clock()
    return state.withLock { $0.table.isResting(key, at: now) }
  }

  /// Why nobody answered when an image was asked about last; nil where somebody did.
  func failure(of key: String) -> LoadError? { state.withLock { $0.table.failure(of: key) } }

  /// Asks about an image at once, and waits for the answer.
  ///
  /// - Parameters:
  ///   - revalidation: Asks, unless that is being done.
  ///   - wish: How urgently the answer is wanted; also counts where the image is being asked about already.
  /// - Returns: The new version; nil where the image is still the same.
  /// - Throws: What asking throws, or `cancelled` when the calling task is cancelled.
  func answer(
    to revalidation: ImageRevalidation,
    wish: LoadWish
  ) async throws(LoadError) -> FetchedImage? {
    let key = revalidation.key
    let listener = wish.listen { [weak self] in self?.reprioritise(key) }
    defer { wish.forget(listener) }
    guard let outcome = await wait(for: key, wish, starting: revalidation) else {
      throw LoadError(.cancelled, message: "the load was cancelled")
    }
    return try outcome.get()
  }

  /// What the asking that is under way comes to; nil where there is none, or when the calling task is cancelled.
  func outcome(for key: String) async -> Outcome? { await wait(for: key, nil, starting: nil) }

  private func wait(
    for key: String,
    _ wish: LoadWish?,
    starting revalidation: ImageRevalidation?
  ) async -> Outcome? {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (waits, run) = state.withLock { state -> (Bool, LoadRun?) in
          guard !Task.isCancelled, revalidation != nil || state.table.isAsking(key) else {
            return (false, nil)
          }
          let waiter = Waiter(number: number, wish: wish, continuation: continuation)
          state.waiters[key, default: []].append(waiter)
          if let revalidation, state.table.askAtOnce(key) == .start {
            state.queued[key] = nil
            start(revalidation, nil, &state)
          }
          return (true, state.refresh(key))
        }
        if !waits { continuation.resume(returning: nil) }
        run?.announce()
      }
    } onCancel: {
      leave(key, number)
    }
  }

  /// How many wait for the answer about a key now.
  func count(of key: String) -> Int { state.withLock { $0.waiters[key]?.count ?? 0 } }

  /// Returns when nothing is asked about any more.
  func idle() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if !state.table.isIdle { state.idlers.append(continuation) }
        return state.table.isIdle
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Stops asking; who waits learns that it was cancelled.
  func stop() {
    let (tasks, waiters) = state.withLock { state in
      let dropped = state.table.dropQueued()
      state.summary.unfinished += dropped.count
      for key in dropped { state.queued[key] = nil }
      return (state.runs.values.map(\.task), dropped.flatMap { state.waiters.removeValue(forKey: $0) ?? [] })
    }
    for task in tasks { task.cancel() }
    for waiter in waiters { waiter.continuation.resume(returning: nil) }
  }

  /// Forgets which servers did not answer, as the network has changed.
  func forgetPast() { state.withLock { $0.table.forgetPast() } }

  /// What came of asking since this was taken last.
  func takeSummary() -> RevalidationSummary {
    state.withLock { state in
      defer { state.summary = RevalidationSummary() }
      return state.summary
    }
  }

  private func start(
    _ revalidation: ImageRevalidation,
    _ priority: TaskPriority?,
    _ state: inout State
  ) {
    let run = LoadRun(state.priority(of: revalidation.key))
    let task = Task(priority: priority) { self.finish(revalidation, await revalidation.outcome(run)) }
    state.runs[revalidation.key] = (run, task)
  }

  private func reprioritise(_ key: String) { state.withLock { $0.refresh(key) }?.announce() }

  private func finish(_ revalidation: ImageRevalidation, _ outcome: Outcome) {
    let (key, now) = (revalidation.key, clock())
    let (waiters, idlers) = state.withLock { state in
      state.runs[key] = nil
      state.summary.count(outcome, of: revalidation.variant.url)
      let next = state.table.end(key, at: now, failing: outcome.failure)
      if let next, let other = state.queued.removeValue(forKey: next) { start(other, .background, &state) }
      let idlers = state.table.isIdle ? state.idlers : []
      if state.table.isIdle { state.idlers.removeAll() }
      return (state.waiters.removeValue(forKey: key) ?? [], idlers)
    }
    for waiter in waiters { waiter.continuation.resume(returning: outcome) }
    for idler in idlers { idler.resume() }
  }

  private func leave(_ key: String, _ number: Int) {
    let (waiter, run) = state.withLock { state -> (Waiter?, LoadRun?) in
      guard let index = state.waiters[key]?.firstIndex(where: { $0.number == number }) else {
        return (nil, nil)
      }
      return (state.waiters[key]?.remove(at: index), state.refresh(key))
    }
    waiter?.continuation.resume(returning: nil)
    run?.announce()
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
