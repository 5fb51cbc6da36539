import FeedimgModel
import Synchronization

/// Shares one load of a key among all callers that request it while it runs.
///
/// The load has its own task, so a caller can leave without affecting the others. The load is cancelled when
/// its last caller leaves. Its priority is the highest priority of its callers.
final class Coalescer<Value: Sendable>: Sendable {
  typealias Waiter = CoalescerState.Waiter
  typealias Load = @PipelineActor @Sendable (InFlightLoad) async -> Result<Value, LoadError>

  /// The result of waiting for a load.
  enum Outcome: Sendable {
    /// The load succeeded.
    ///
    /// One caller of each load is the first, and its bytes count toward that caller's limits.
    case finished(Value, isFirst: Bool)
    case failed(LoadError)
    /// ``Coalescer/release(_:)`` ended the wait; the load may still run.
    case released
  }

  private struct State {
    var table = CoalescerState()
    var continuations: [Waiter: CheckedContinuation<Outcome, Never>] = [:]
    var loads: [CoalescerState.Load: (load: InFlightLoad, task: Task<Void, Never>)] = [:]
    /// Cancelled loads that have not ended yet, by key.
    var ending: [String: Task<Void, Never>] = [:]

    /// Updates the priority and the first caller of a load.
    func refresh(_ load: CoalescerState.Load) -> InFlightLoad? {
      guard let priority = table.priority(of: load), let first = table.first(of: load),
        let inFlight = loads[load]?.load
      else { return nil }
      inFlight.set(priority: priority, first: first)
      return inFlight
    }
  }

  /// Guards the callers and the loads; continuations resume and tasks are cancelled outside the lock.
  private let state = Mutex(State())

  init() {}

  /// Creates an identifier with which a caller can be released.
  func waiter() -> Waiter { state.withLock { $0.table.issue() } }

  /// Joins the running load of a key, or starts one.
  ///
  /// A new load waits until a cancelled load of the same key has ended, and then uses the bytes that it kept.
  ///
  /// - Parameters:
  ///   - key: The key, which is equal for all callers that may share a load.
  ///   - waiter: The caller's identifier from ``waiter()``.
  ///   - handle: The priority of the caller.
  ///   - progress: Called as bytes arrive, and immediately if some have arrived already.
  ///   - onResponse: Called as soon as readers can read the response.
  ///   - load: The work to do if no load of the key runs.
  /// - Returns: The outcome; `failed` with `cancelled` as soon as the calling task is cancelled.
  @PipelineActor func outcome(
    for key: String,
    _ waiter: Waiter,
    handle: LoadHandle = LoadHandle(.visible),
    progress: InFlightLoad.Listener? = nil,
    onResponse: InFlightLoad.ResponseListener? = nil,
    by load: @escaping Load
  ) async -> Outcome {
    let listener = handle.listen { [weak self] in self?.setPriority(waiter, handle) }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { join(key, waiter, handle, (progress, onResponse), $0, load) }
    } onCancel: {
      leave(waiter, .failed(Self.cancelled))
    }
    handle.forget(listener)
    state.withLock { $0.table.forget(waiter) }
    return outcome
  }

  /// Joins the running load of a key, or starts one; see ``outcome(for:_:handle:progress:onResponse:by:)``.
  ///
  /// - Returns: The result of the load, and whether this caller is its first.
  /// - Throws: The error of the load, or `cancelled` as soon as the calling task is cancelled.
  @PipelineActor func value(
    for key: String,
    handle: LoadHandle = LoadHandle(.visible),
    onResponse: InFlightLoad.ResponseListener? = nil,
    by load: @escaping Load
  ) async throws(LoadError) -> (value: Value, isFirst: Bool) {
    switch await outcome(for: key, waiter(), handle: handle, onResponse: onResponse, by: load) {
    case .finished(let value, let isFirst): return (value, isFirst)
    case .failed(let error): throw error
    case .released: throw Self.cancelled
    }
  }

  /// The load for which a caller waits; nil if it does not wait.
  func load(of waiter: Waiter) -> InFlightLoad? {
    state.withLock { state in state.table.load(of: waiter).flatMap { state.loads[$0]?.load } }
  }

  /// Ends the wait of a caller with `released`; does nothing if the wait has ended.
  func release(_ waiter: Waiter) { leave(waiter, .released) }

  /// Cancels all loads: each caller gets `failed` with `cancelled`.
  func cancel() {
    for waiter in state.withLock({ Array($0.continuations.keys) }) { leave(waiter, .failed(Self.cancelled)) }
  }

  /// Whether no load runs and no caller waits.
  var isIdle: Bool {
    state.withLock { $0.table.isEmpty && $0.continuations.isEmpty && $0.loads.isEmpty && $0.ending.isEmpty }
  }

  var count: Int { state.withLock { $0.table.count } }

  /// The number of callers that wait for a key.
  func count(of key: String) -> Int { state.withLock { $0.table.count(of: key) } }

  private func join(
    _ key: String,
    _ waiter: Waiter,
    _ handle: LoadHandle,
    _ listeners: (progress: InFlightLoad.Listener?, response: InFlightLoad.ResponseListener?),
    _ continuation: CheckedContinuation<Outcome, Never>,
    _ work: @escaping Load
  ) {
    let (joined, inFlight) = state.withLock { state in
      let joined = state.table.join(key, waiter, handle.priority)
      switch joined {
      case .gone: return (joined, nil as InFlightLoad?)
      case .join(let load):
        state.continuations[waiter] = continuation
        return (joined, state.refresh(load))
      case .start(let load):
        state.continuations[waiter] = continuation
        let inFlight = InFlightLoad(handle.priority)
        let predecessor = state.ending[key]
        let task = PipelineActor.task {
          await predecessor?.value
          let result = await work(inFlight)
          inFlight.response?.body.end(result.failure)
          self.finish(load, result)
        }
        state.loads[load] = (inFlight, task)
        return (joined, state.refresh(load))
      }
    }
    if case .join = joined { LoadEventReporter.report(.joined) }
    guard let inFlight else {
      if joined == .gone {
        continuation.resume(returning: Task.isCancelled ? .failed(Self.cancelled) : .released)
      }
      return
    }
    inFlight.listen(waiter, listeners.progress, listeners.response)
    inFlight.announcePriority()
  }

  private func setPriority(_ waiter: Waiter, _ handle: LoadHandle) {
    let inFlight = state.withLock { state in
      state.table.setPriority(waiter, handle.priority).flatMap { state.refresh($0) }
    }
    inFlight?.announcePriority()
  }

  private func leave(_ waiter: Waiter, _ outcome: Outcome) {
    let (continuation, inFlight, task) = state.withLock { state in
      let continuation = state.continuations.removeValue(forKey: waiter)
      switch state.table.leave(waiter) {
      case .nothing: return (continuation, nil as InFlightLoad?, nil as Task<Void, Never>?)
      case .keep(let load): return (continuation, state.refresh(load), nil)
      case .stop(let load):
        guard let ended = state.loads[load] else { return (continuation, nil, nil) }
        state.ending[load.key] = ended.task
        ended.load.abandon()
        return (continuation, nil, ended.task)
      }
    }
    task?.cancel()
    inFlight?.forget(waiter)
    inFlight?.announcePriority()
    continuation?.resume(returning: outcome)
  }

  private func finish(_ load: CoalescerState.Load, _ result: Result<Value, LoadError>) {
    let continuations = state.withLock { state in
      let ended = state.loads.removeValue(forKey: load)
      if let ended, state.ending[load.key] == ended.task { state.ending[load.key] = nil }
      return state.table.finish(load).compactMap { state.continuations.removeValue(forKey: $0) }
    }
    for (index, continuation) in continuations.enumerated() {
      switch result {
      case .success(let value): continuation.resume(returning: .finished(value, isFirst: index == 0))
      case .failure(let error): continuation.resume(returning: .failed(error))
      }
    }
  }

  private static var cancelled: LoadError { LoadError(.cancelled, message: "the load was cancelled") }
}

extension Result {
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
