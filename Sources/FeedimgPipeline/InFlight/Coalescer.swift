import FeedimgModel
import Synchronization

/// Identifies one caller of a load, also before it joins.
struct LoadWaiter: Hashable, Sendable {
  private static let lastNumber = Atomic(0)

  private let number = LoadWaiter.lastNumber.add(1, ordering: .relaxed).newValue
}

/// Shares one load of a key among all callers that request it while it runs.
///
/// The load has its own task, so a caller can leave without affecting the others. The load is cancelled when
/// its last caller leaves. Its priority is the highest priority of its callers.
final class Coalescer<Value: Sendable>: Sendable {
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

  struct Caller {
    let waiter: LoadWaiter
    var priority: LoadPriority
    let continuation: CheckedContinuation<Outcome, Never>
  }

  /// A load with its callers, in the order in which they joined.
  ///
  /// A running load has at least one.
  struct Entry {
    let load: InFlightLoad
    let task: Task<Void, Never>
    var callers: [Caller] = []

    /// Updates the priority and the first caller of the load.
    func refresh() {
      guard let first = callers.first, let priority = callers.map(\.priority).max() else { return }
      load.set(priority: priority, first: first.waiter)
    }
  }

  struct State {
    var entries: [String: Entry] = [:]
    /// The key for which each caller waits.
    var keys: [LoadWaiter: String] = [:]
    /// The callers that left before they joined, or after the load ended.
    var left: Set<LoadWaiter> = []
    /// Cancelled loads that have not ended yet, by key.
    var ending: [String: Entry] = [:]

    /// Removes a caller; the load ends with its last caller.
    ///
    /// - Returns: The caller and its load; nil if it does not wait.
    mutating func remove(_ waiter: LoadWaiter) -> (caller: Caller, entry: Entry)? {
      guard let key = keys.removeValue(forKey: waiter), var entry = entries[key],
        let index = entry.callers.firstIndex(where: { $0.waiter == waiter })
      else {
        left.insert(waiter)
        return nil
      }
      let caller = entry.callers.remove(at: index)
      entries[key] = entry.callers.isEmpty ? nil : entry
      if entry.callers.isEmpty {
        ending[key] = entry
        entry.load.abandon()
      }
      entry.refresh()
      return (caller, entry)
    }
  }

  /// Guards the callers and the loads; continuations resume and tasks are cancelled outside the lock.
  let state = Mutex(State())

  /// Joins the running load of a key, or starts one.
  ///
  /// A new load waits until a cancelled load of the same key has ended, and then uses the bytes that it
  /// kept. `progress` and `onResponse` are called at once if bytes have arrived already.
  ///
  /// - Returns: The outcome; `failed` with `cancelled` as soon as the calling task is cancelled.
  @PipelineActor func outcome(
    for key: String,
    _ waiter: LoadWaiter = LoadWaiter(),
    handle: LoadHandle = LoadHandle(.visible),
    progress: InFlightLoad.Listener? = nil,
    onResponse: InFlightLoad.ResponseListener? = nil,
    by load: @escaping Load
  ) async -> Outcome {
    let listener = handle.listen { [weak self] in self?.setPriority(waiter, handle) }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard let (inFlight, isNew) = join(key, waiter, handle, continuation, load) else {
          return continuation.resume(returning: Task.isCancelled ? .failed(Self.cancelled) : .released)
        }
        if !isNew { LoadEventReporter.report(.joined) }
        inFlight.listen(waiter, progress, onResponse)
        inFlight.announcePriority()
      }
    } onCancel: {
      leave(waiter, .failed(Self.cancelled))
    }
    handle.forget(listener)
    state.withLock { _ = $0.left.remove(waiter) }
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
    switch await outcome(for: key, handle: handle, onResponse: onResponse, by: load) {
    case .finished(let value, let isFirst): return (value, isFirst)
    case .failed(let error): throw error
    case .released: throw Self.cancelled
    }
  }

  /// The load for which a caller waits; nil if it does not wait.
  func load(of waiter: LoadWaiter) -> InFlightLoad? {
    state.withLock { state in state.keys[waiter].flatMap { state.entries[$0]?.load } }
  }

  /// Ends the wait of a caller with `released`; does nothing if the wait has ended.
  func release(_ waiter: LoadWaiter) { leave(waiter, .released) }

  /// Cancels all loads: each caller gets `failed` with `cancelled`.
  func cancel() {
    for waiter in state.withLock({ Array($0.keys.keys) }) { leave(waiter, .failed(Self.cancelled)) }
  }

  /// The number of callers that wait for a key.
  func count(of key: String) -> Int { state.withLock { $0.entries[key]?.callers.count ?? 0 } }

  /// - Returns: The load, and whether it was started; nil if the caller left before it joined.
  @PipelineActor private func join(
    _ key: String,
    _ waiter: LoadWaiter,
    _ handle: LoadHandle,
    _ continuation: CheckedContinuation<Outcome, Never>,
    _ work: @escaping Load
  ) -> (load: InFlightLoad, isNew: Bool)? {
    state.withLock { state in
      guard state.left.remove(waiter) == nil else { return nil }
      // Read under the lock: a change before it is seen here, and a later one finds the caller.
      let caller = Caller(waiter: waiter, priority: handle.priority, continuation: continuation)
      let known = state.entries[key]
      var entry = known ?? start(key, caller.priority, after: state.ending[key]?.task, work)
      entry.callers.append(caller)
      entry.refresh()
      (state.entries[key], state.keys[waiter]) = (entry, key)
      return (entry.load, known == nil)
    }
  }

  private func start(
    _ key: String,
    _ priority: LoadPriority,
    after predecessor: Task<Void, Never>?,
    _ work: @escaping Load
  ) -> Entry {
    let load = InFlightLoad(priority)
    let task = PipelineActor.task {
      await predecessor?.value
      let result = await work(load)
      load.response?.body.end(result.failure)
      self.finish(key, load, result)
    }
    return Entry(load: load, task: task)
  }

  private func setPriority(_ waiter: LoadWaiter, _ handle: LoadHandle) {
    let load = state.withLock { state -> InFlightLoad? in
      guard let key = state.keys[waiter],
        let index = state.entries[key]?.callers.firstIndex(where: { $0.waiter == waiter })
      else { return nil }
      state.entries[key]?.callers[index].priority = handle.priority
      state.entries[key]?.refresh()
      return state.entries[key]?.load
    }
    load?.announcePriority()
  }

  private func leave(_ waiter: LoadWaiter, _ outcome: Outcome) {
    guard let (caller, entry) = state.withLock({ $0.remove(waiter) }) else { return }
    if entry.callers.isEmpty { entry.task.cancel() }
    entry.load.forget(waiter)
    entry.load.announcePriority()
    caller.continuation.resume(returning: outcome)
  }

  private func finish(_ key: String, _ load: InFlightLoad, _ result: Result<Value, LoadError>) {
    let callers = state.withLock { state -> [Caller] in
      if state.ending[key]?.load === load { state.ending[key] = nil }
      guard let entry = state.entries[key], entry.load === load else { return [] }
      state.entries[key] = nil
      for caller in entry.callers { state.keys[caller.waiter] = nil }
      return entry.callers
    }
    for (index, caller) in callers.enumerated() {
      switch result {
      case .success(let value):
        caller.continuation.resume(returning: .finished(value, isFirst: index == 0))
      case .failure(let error): caller.continuation.resume(returning: .failed(error))
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
