import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy
import FeedimgSystem
import Synchronization

/// Runs a prefetch: a few items at a time, in order.
final class PrefetchWorker: Sendable {
  private struct State {
    var outcomes: PrefetchOutcomes
    var budget: PrefetchBudget
    /// The running loads, by item; they are cancelled when no longer needed.
    var loads: [Int: Task<Result<LoadedImage, LoadError>, Never>] = [:]
    /// The number of changes after which waiting items check again.
    var changeCount = 0
    /// Why a load was cancelled.
    var reasons: [Int: Prefetch.Reason] = [:]
    var isStopped = false
    /// Items that have not started yet.
    var rest: ArraySlice<Int> = []
  }

  /// Enough loads to fill every place of the scheduler, and few enough for urgent loads to overtake.
  private static let concurrency = 16

  let loader: ImageLoader
  let items: [FeedItem]
  /// Whether items wait for a better network instead of being skipped.
  let waits: Bool
  /// Signals that the facts behind decisions changed; ends when the prefetch stops.
  private let changes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
  /// Reports an outcome; the lock serializes the reports, so that the last one ends after all others.
  private let report: Mutex<@Sendable (Prefetch.Outcome) -> Void>
  /// Guards the progress; loads are cancelled and outcomes reported outside the lock.
  private let state: Mutex<State>
  /// The items that wait until it is known whether their image fits.
  private let undecided = Waiters<Void>()
  /// Reconsiders waiting items when a failed server responds again.
  let circuitSubscription: CircuitSubscription

  init(
    loader: ImageLoader,
    items: [FeedItem],
    limits: Prefetch.Limits,
    waits: Bool = false,
    report: @escaping @Sendable (Prefetch.Outcome) -> Void
  ) {
    (self.loader, self.items, self.waits) = (loader, items, waits)
    self.report = Mutex(report)
    circuitSubscription = CircuitSubscription(loader.resources.transport.retries) { .prefetch }
    changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let outcomes = PrefetchOutcomes(count: items.count)
    state = Mutex(State(outcomes: outcomes, budget: PrefetchBudget(limits)))
  }

  var progress: PrefetchProgress { state.withLock(\.outcomes.progress) }

  func stop() {
    let loads = state.withLock { state in
      state.isStopped = true
      // Cancel the last ones first, because they wait for the places of those before them.
      return state.loads.sorted { $0.key > $1.key }.map(\.value)
    }
    for load in loads { load.cancel() }
    retryUndecided()
    circuitSubscription.close()
    changes.continuation.finish()
  }

  @PipelineActor func run() async {
    defer { reportOutcomes() }
    // A subscription that stays open would be chosen to probe servers in place of others.
    defer { circuitSubscription.close() }
    loader.requireCost()
    let factMonitor = loader.resources.factMonitor
    let number = factMonitor.listen(priority: { .prefetch }, { [weak self] in self?.reconsider() })
    defer { factMonitor.leave(number) }
    await fetch(Array(items.indices))
    guard isWaiting else { return }
    for await _ in changes.stream {
      await fetch(state.withLock { $0.outcomes.takeWaiting() })
      guard isWaiting else { return }
    }
  }

  private var isWaiting: Bool { state.withLock { !$0.outcomes.waiting.isEmpty } }

  @PipelineActor private func fetch(_ indices: [Int]) async {
    state.withLock { $0.rest = indices[...] }
    let workers = indices.prefix(Self.concurrency).map { _ in
      PipelineActor.task { while let index = self.takeNext() { await self.fetch(index) } }
    }
    // After ``stop()``, each worker ends with its cancelled load.
    for worker in workers { await worker.value }
  }

  private func takeNext() -> Int? { state.withLock { $0.isStopped ? nil : $0.rest.popFirst() } }

  private var isStopped: Bool { state.withLock(\.isStopped) }

  /// Waits until an image may be loaded or must be skipped, and loads or skips it; returns early after a stop.
  @PipelineActor private func fetch(_ index: Int) async {
    while !isStopped {
      guard loader.resources.storage.pressure.allowsPrefetch else { return await skip(index, .memory) }
      let generation = loader.resources.factMonitor.generation
      let resolution = loader.resolve(items[index])
      let role: ImageVariant.Role
      switch verdict(resolution) {
      case .skip(let reason): return await skip(index, reason)
      case .load(let wanted): role = wanted
      }
      let variant = items[index][role]
      let (entry, changeCount) = state.withLock { state in
        (state.budget.enter(index, size: variant?.size, of: variant?.url.key), state.changeCount)
      }
      switch entry {
      case .begin: return await load(index, (resolution, generation))
      case .leaveOut(let reason): return await skip(index, reason)
      case .wait: await undecided.wait { state.withLock { $0.changeCount != changeCount } ? () : nil }
      }
    }
  }

  @PipelineActor private func skip(_ index: Int, _ reason: Prefetch.Reason) async {
    end(index, .skipped(reason))
    // This path never suspends, and many such items in a row would block the thread.
    await Task.yield()
  }

  /// Lets waiting items check again whether they may start.
  private func retryUndecided() {
    state.withLock { $0.changeCount += 1 }
    undecided.resumeAll()
  }

  /// Loads an image and reports the outcome.
  ///
  /// - Parameters:
  ///   - index: The index of the item.
  ///   - decided: The decision and its generation.
  @PipelineActor private func load(
    _ index: Int,
    _ decided: (resolution: Resolution, generation: Int?)
  ) async {
    var operation = ImageLoad(loader: loader, item: items[index], facts: [:])
    (operation.handle, operation.limits.waitsForUnresponsiveHosts) = (LoadHandle(.prefetch), !waits)
    operation.listener = { [weak self] in self?.note($0, index, isFirst: $2) }
    operation.decided = decided
    operation.limits.allowsFallback = { [weak self] in
      if case .load = self?.verdict($0) { true } else { false }
    }
    let load = PipelineActor.task { [operation] in
      await Result.of { () async throws(LoadError) in try await operation.run() }
    }
    let isOver = state.withLock { state in
      state.loads[index] = load
      return state.isStopped || state.reasons[index] != nil
    }
    if isOver { load.cancel() }
    let result = await load.value
    let (reason, received) = state.withLock { state in
      state.loads[index] = nil
      return (state.reasons.removeValue(forKey: index), state.budget.leave(index))
    }
    defer { retryUndecided() }
    switch result {
    case .success(let image) where image.failure?.isFinal == false:
      // The thumbnail is present, but a retry may still load the original.
      if let failure = image.failure { endFailed(index, failure) }
    case .success(let image) where image.source != .network: endCached(index, image)
    case .success(let image):
      circuitSubscription.succeeded()
      end(index, Self.result(of: image, received))
    case .failure(let error) where error.code == .cancelled:
      if let reason { end(index, .skipped(reason)) } else if !isStopped { end(index, .failed(error)) }
    case .failure(let error) where error.code == .nothingToShow:
      end(index, .skipped(reason ?? self.reason(of: error)))
    case .failure(let error): endFailed(index, error)
    }
  }

  /// Counts received bytes and cancels a load that exceeds a limit; the first call follows the response head.
  private func note(_ progress: LoadProgress, _ index: Int, isFirst: Bool) {
    let (isHead, load) = state.withLock { state in
      let before = state.budget.spent
      // Bytes that are charged to another load do not change the remaining room.
      let isNews = isFirst || !state.budget.hasBegun(index)
      let reason = state.budget.note(index, progress, isFirst: isFirst)
      state.outcomes.received = ByteCount(state.budget.spent)
      if let reason { state.reasons[index] = reason }
      return (isNews && state.budget.spent == before, reason == nil ? nil : state.loads[index])
    }
    load?.cancel()
    if isHead || load != nil { retryUndecided() }
  }

  /// Ends loads that would not start now, after the facts have changed.
  func reconsider() {
    changes.continuation.yield()
    retryUndecided()
    Task { @PipelineActor in self.endOutdated() }
  }

  private func endOutdated() {
    for (index, load) in state.withLock(\.loads) {
      // A load whose image is now cached is about to end.
      guard case .skip(let reason) = verdict(index), reason != .cached else { continue }
      // If the load has ended meanwhile, its next attempt must not find this reason.
      state.withLock { if $0.loads[index] == load { $0.reasons[index] = reason } }
      load.cancel()
    }
  }

  func end(_ index: Int, _ result: Prefetch.Outcome.Result) {
    if waits, case .skipped(let reason) = result, reason == .dataCosts || reason == .offline {
      return state.withLock { $0.outcomes.waiting.append(index) }
    }
    let isFirst = state.withLock { $0.outcomes.add(index, result) }
    // Report in batches: waking the consumer for each small image costs as much as fetching it.
    if isFirst { loader.resources.storage.writes.afterwards { self.reportOutcomes() } }
  }

  private func reportOutcomes() {
    report.withLock { report in
      let ended = state.withLock { $0.outcomes.takeEnded() }
      for outcome in ended { report(outcome) }
    }
  }
}

/// Applies the prefetch rule to an item, and ends items by it.
extension PrefetchWorker {
  func verdict(_ index: Int) -> PrefetchRule.Verdict { verdict(loader.resolve(items[index])) }

  func verdict(_ resolution: Resolution) -> PrefetchRule.Verdict {
    PrefetchRule.verdict(
      resolution.decision,
      in: resolution.situation,
      setsPriority: loader.policy.latest.table.setsPriority,
      waits: waits
    )
  }

  /// Returns the result for a fetched image, which the cache may have been unable or forbidden to keep.
  static func result(of image: LoadedImage, _ received: ByteCount) -> Prefetch.Outcome.Result {
    // If this load joined that of a slot through the service, it is unknown whether the image is kept.
    guard image.path == nil, let reason = image.notes.first(where: { $0 != image.failure?.fallbackNote })
    else { return .fetched(image.variant, received) }
    return .unkept(image.variant, received, reason)
  }

  /// Returns the reason to skip an item whose load had nothing to show, because the facts changed meanwhile.
  func reason(of error: LoadError) -> Prefetch.Reason {
    guard let resolution = error.resolution, case .skip(let reason) = verdict(resolution), reason != .cached
    else { return .offline }
    return reason
  }

  /// Ends an item that failed, or lets it wait if the network or its server does not respond.
  @PipelineActor func endFailed(_ index: Int, _ error: LoadError) {
    guard waits, error.isSilence || error.code == .unknownHost else { return end(index, .failed(error)) }
    if verdict(index) == .skip(.offline) { return end(index, .skipped(.offline)) }
    guard error.isSilence, let server = error.servers.first, server.circuit != .closed else {
      return end(index, .failed(error))
    }
    end(index, .skipped(.offline))
    // Wait after the item was added, because the server may already respond again.
    circuitSubscription.wait(after: error) { [weak self] in self?.reconsider() }
  }

  /// Ends an item that was cached.
  ///
  /// If the network became worse during the load, the cached thumbnail may not be the wanted image.
  @PipelineActor func endCached(_ index: Int, _ image: LoadedImage) {
    guard waits, image.variant.role == .thumbnail, image.failure == nil, items[index].original != nil else {
      return end(index, .skipped(.cached))
    }
    switch verdict(index) {
    case .skip(let reason): end(index, .skipped(reason))
    // The network has improved since; that change makes the waiting items decide again.
    case .load(.original): end(index, .skipped(.offline))
    // Another load has fetched the image, and it could not be kept.
    case .load(.thumbnail): end(index, .skipped(.cached))
    }
  }
}

/// Decides whether to fetch an image that no view shows yet.
///
/// Only an image that the policy would load is fetched, and only while data is free. A table with a
/// `priority` column makes one exception: `now` and `soon` permit the load at any cost, and `idle` does not.
enum PrefetchRule {
  enum Verdict: Hashable {
    case load(ImageVariant.Role)
    case skip(Prefetch.Reason)
  }

  /// Returns the image to fetch, or the reason to skip the item.
  ///
  /// If the item may wait for a better network, a cached thumbnail is not enough where the original could
  /// be loaded there.
  static func verdict(
    _ decision: Decision,
    in situation: Situation,
    setsPriority: Bool,
    waits: Bool = false
  ) -> Verdict {
    let isOffline = situation.network == .offline
    let isFree = situation.metered == .no && !situation.isRoaming && !situation.savesData
    guard let role = decision.load else {
      guard decision.source == .cache else { return .skip(isOffline ? .offline : .policy) }
      guard waits, decision.image == .thumbnail, situation.original == .remote else { return .skip(.cached) }
      return .skip(isOffline ? .offline : isFree ? .cached : .dataCosts)
    }
    guard setsPriority ? isFree || decision.urgency != .idle : isFree else { return .skip(.dataCosts) }
    return .load(role)
  }
}
