import FeedimgModel
import FeedimgSystem
import Synchronization

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
    /// ``Coalescer/release(_:of:)`` ended the wait; the load may still run.
    case released
  }

  /// One caller of a load, which may also leave before it joins.
  final class Caller: Sendable {
    let handle: LoadHandle
    fileprivate let outcome = Promise<Outcome>()

    init(_ handle: LoadHandle = LoadHandle(.visible)) { self.handle = handle }
  }

  /// A load with its callers, in the order in which they joined.
  ///
  /// A running load has at least one.
  struct Entry {
    let load: InFlightLoad
    let task: Task<Void, Never>
    var callers: [Caller] = []
  }

  struct State {
    var entries: [String: Entry] = [:]
    /// Cancelled loads that have not ended yet, by key.
    var ending: [String: Entry] = [:]
  }

  /// Guards the callers and the loads; callers resume and tasks are cancelled outside the lock.
  let state = Mutex(State())

  /// Joins the running load of a key, or starts one.
  ///
  /// A new load waits until a cancelled load of the same key has ended, and then uses the bytes that it
  /// kept. `progress` and `onResponse` are called at once if bytes have arrived already.
  ///
  /// - Returns: The outcome; `failed` with `cancelled` as soon as the calling task is cancelled.
  @PipelineActor func outcome(
    for key: String,
    _ caller: Caller = Caller(),
    progress: InFlightLoad.Listener? = nil,
    onResponse: InFlightLoad.ResponseListener? = nil,
    by load: @escaping Load
  ) async -> Outcome {
    let listener = caller.handle.listen { [weak self] in self?.load(of: key)?.updatePriority() }
    defer { caller.handle.forget(listener) }
    return await withTaskCancellationHandler {
      join(key, caller, progress, onResponse, load)
      return await caller.outcome.value() ?? caller.outcome.current ?? .failed(Self.cancelled)
    } onCancel: {
      leave(key, caller, .failed(Self.cancelled))
    }
  }

  /// Joins the running load of a key, or starts one; see ``outcome(for:_:progress:onResponse:by:)``.
  ///
  /// - Returns: The result of the load.
  /// - Throws: The error of the load, or `cancelled` as soon as the calling task is cancelled.
  @PipelineActor func value(
    for key: String,
    handle: LoadHandle,
    onResponse: InFlightLoad.ResponseListener? = nil,
    by load: @escaping Load
  ) async throws(LoadError) -> Value {
    switch await outcome(for: key, Caller(handle), onResponse: onResponse, by: load) {
    case .finished(let value, _): return value
    case .failed(let error): throw error
    case .released: throw Self.cancelled
    }
  }

  /// The running load of a key.
  func load(of key: String) -> InFlightLoad? { state.withLock { $0.entries[key]?.load } }

  /// Ends the wait of a caller of a key with `released`; does nothing if the wait has ended.
  func release(_ caller: Caller, of key: String) { leave(key, caller, .released) }

  /// Cancels all loads: each caller gets `failed` with `cancelled`.
  func cancel() {
    for (key, entry) in state.withLock({ $0.entries }) {
      for caller in entry.callers { leave(key, caller, .failed(Self.cancelled)) }
    }
  }

  /// The number of callers that wait for a key.
  func count(of key: String) -> Int { state.withLock { $0.entries[key]?.callers.count ?? 0 } }

  /// Adds a caller to the load of a key, unless it has left.
  @PipelineActor private func join(
    _ key: String,
    _ caller: Caller,
    _ progress: InFlightLoad.Listener?,
    _ onResponse: InFlightLoad.ResponseListener?,
    _ work: @escaping Load
  ) {
    let joined = state.withLock { state -> (load: InFlightLoad, isNew: Bool, news: InFlightLoad.JoinState)? in
      // Read under the lock: a caller that leaves later is found in the entry.
      guard caller.outcome.current == nil, !Task.isCancelled else { return nil }
      let known = state.entries[key]
      var entry = known ?? start(key, caller.handle.priority, after: state.ending[key]?.task, work)
      entry.callers.append(caller)
      let news = entry.load.add(ObjectIdentifier(caller), caller.handle, progress, onResponse)
      state.entries[key] = entry
      return (entry.load, known == nil, news)
    }
    guard let (load, isNew, news) = joined else { return }
    if !isNew { LoadEventReporter.report(.joined) }
    if let soFar = load.progress { progress?(soFar, load, news.isFirst) }
    if let response = news.response { onResponse?(response) }
    load.announcePriority()
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

  private func leave(_ key: String, _ caller: Caller, _ outcome: Outcome) {
    // First of all, so that a caller that has not joined yet never joins.
    guard caller.outcome.resolve(outcome) else { return }
    // The closures of the caller may free objects, so they are freed outside the lock.
    let left = state.withLock { state -> (entry: Entry, removed: [InFlightLoad.Caller])? in
      guard var entry = state.entries[key], let index = entry.callers.firstIndex(where: { $0 === caller })
      else { return nil }
      entry.callers.remove(at: index)
      let removed = entry.load.remove(ObjectIdentifier(caller))
      state.entries[key] = entry.callers.isEmpty ? nil : entry
      if entry.callers.isEmpty { state.ending[key] = entry }
      return (entry, removed)
    }
    guard let entry = left?.entry else { return }
    if entry.callers.isEmpty { entry.task.cancel() }
    entry.load.announcePriority()
  }

  private func finish(_ key: String, _ load: InFlightLoad, _ result: Result<Value, LoadError>) {
    let callers = state.withLock { state -> [Caller] in
      if state.ending[key]?.load === load { state.ending[key] = nil }
      guard state.entries[key]?.load === load else { return [] }
      return state.entries.removeValue(forKey: key)?.callers ?? []
    }
    var isFirst = true
    for caller in callers {
      let outcome: Outcome =
        switch result {
        case .success(let value): .finished(value, isFirst: isFirst)
        case .failure(let error): .failed(error)
        }
      // A caller that is leaving at this moment is not the first.
      if caller.outcome.resolve(outcome) { isFirst = false }
    }
  }

  private static var cancelled: LoadError { LoadError(.cancelled, message: "the load was cancelled") }
}

extension Result {
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
