import FeedimgModel
import Synchronization

/// Asks about images that may be out of date, each once however many show it.
final class RevalidationDesk: Sendable {
  /// The new version; nil where the image is still the same.
  typealias Outcome = Result<FetchedImage?, LoadError>
  typealias Work = @Sendable () async -> Outcome

  private struct Waiter {
    var number: Int
    var continuation: CheckedContinuation<Outcome?, Never>
  }

  private struct State {
    var table = RevalidationTable()
    var works: [String: Work] = [:]
    var tasks: [String: Task<Void, Never>] = [:]
    var waiters: [String: [Waiter]] = [:]
    var idlers: [CheckedContinuation<Void, Never>] = []
    var issued = 0
    var summary = RevalidationSummary()
  }

  /// Guards who asks and who waits; continuations are resumed and tasks cancelled outside.
  private let state = Mutex(State())
  private let clock: @Sendable () -> Double

  init(clock: @escaping @Sendable () -> Double) { self.clock = clock }

  /// Asks about an image in the background, unless that is being done or has just been done.
  ///
  /// - Returns: Whether an answer is to be expected.
  func begin(_ key: String, _ work: @escaping Work) -> Bool {
    let now = clock()
    let (isAwaited, dropped) = state.withLock { state -> (Bool, [Waiter]) in
      switch state.table.ask(key, at: now) {
      case .start: state.tasks[key] = task(key, work)
      case .queue(let dropped):
        state.works[key] = work
        guard let dropped else { break }
        state.works[dropped] = nil
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
    state.withLock { $0.table.pastCount + $0.works.count + $0.tasks.count + $0.waiters.count }
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
  /// - Throws: What asking throws, or `cancelled` when the calling task is cancelled.
  func answer(for key: String, _ work: @escaping Work) async throws(LoadError) -> FetchedImage? {
    guard let outcome = await wait(for: key, starting: work) else {
      throw LoadError(.cancelled, message: "the load was cancelled")
    }
    return try outcome.get()
  }

  /// What the asking that is under way comes to; nil where there is none, or when the calling task is cancelled.
  func outcome(for key: String) async -> Outcome? { await wait(for: key, starting: nil) }

  private func wait(for key: String, starting work: Work?) async -> Outcome? {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard !Task.isCancelled else { return false }
          if let work, state.table.askAtOnce(key) == .start {
            state.works[key] = nil
            state.tasks[key] = task(key, work)
          }
          guard state.table.isAsking(key) else { return false }
          state.waiters[key, default: []].append(Waiter(number: number, continuation: continuation))
          return true
        }
        if !waits { continuation.resume(returning: nil) }
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
      for key in dropped { state.works[key] = nil }
      return (Array(state.tasks.values), dropped.flatMap { state.waiters.removeValue(forKey: $0) ?? [] })
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

  private func task(_ key: String, _ work: @escaping Work) -> Task<Void, Never> {
    Task(priority: .background) { self.finish(key, await work()) }
  }

  private func finish(_ key: String, _ outcome: Outcome) {
    let now = clock()
    let (waiters, idlers) = state.withLock { state in
      state.tasks[key] = nil
      state.summary.count(outcome, of: key)
      let next = state.table.end(key, at: now, failing: outcome.failure)
      if let next, let work = state.works.removeValue(forKey: next) { state.tasks[next] = task(next, work) }
      let idlers = state.table.isIdle ? state.idlers : []
      if state.table.isIdle { state.idlers.removeAll() }
      return (state.waiters.removeValue(forKey: key) ?? [], idlers)
    }
    for waiter in waiters { waiter.continuation.resume(returning: outcome) }
    for idler in idlers { idler.resume() }
  }

  private func leave(_ key: String, _ number: Int) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.waiters[key]?.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiters[key]?.remove(at: index)
    }
    waiter?.continuation.resume(returning: nil)
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
