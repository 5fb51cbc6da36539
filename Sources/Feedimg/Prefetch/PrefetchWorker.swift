import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy
import FeedimgSystem
import Synchronization

/// Does the work of a prefetch: a few items at a time, in their order.
final class PrefetchWorker: Sendable {
  private struct State {
    var progress: PrefetchProgress
    /// The loads that run, by item; told to end when they are no longer wanted.
    var loads: [Int: Task<LoadedImage, any Error>] = [:]
    var allowance: PrefetchAllowance
    /// Those who wait until it shows whether their image fits.
    var waiters: [CheckedContinuation<PrefetchAllowance.Entry, Never>] = []
    /// Why a load was told to end.
    var reasons: [Int: Prefetch.Reason] = [:]
    var isStopped = false
    /// Items that are still to be looked at.
    var rest: ArraySlice<Int> = []
    /// Items that wait for a better network.
    var waiting: [Int] = []
    /// What has ended and was not told yet.
    var ended: [Prefetch.Outcome] = []
  }

  /// Enough to fill all places that there may be, few enough to be overtaken.
  private static let concurrency = 16

  let loader: ImageLoader
  let items: [FeedItem]
  /// Whether items wait for a better network, rather than being left out.
  let waits: Bool
  /// Something has changed that decisions depend on; ends when it is stopped.
  private let changes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
  private let tell: @Sendable (Prefetch.Outcome) -> Void
  private let clock = SuspendingClock()
  private let start: SuspendingClock.Instant
  /// Guards how far it has come; loads are ended and outcomes told outside.
  private let state: Mutex<State>
  /// Guards that outcomes are told one batch after the other, so that the last who tells has told all.
  private let telling = Mutex(())
  /// Has those that wait looked at again when a server that failed is there again.
  let calls: CircuitSubscription

  init(
    loader: ImageLoader,
    items: [FeedItem],
    limits: Prefetch.Limits,
    waits: Bool = false,
    tell: @escaping @Sendable (Prefetch.Outcome) -> Void
  ) {
    (self.loader, self.items, self.tell) = (loader, items, tell)
    self.waits = waits
    calls = CircuitSubscription(loader.retries) { .prefetch }
    changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    start = clock.now
    let allowance = PrefetchAllowance(limits)
    state = Mutex(State(progress: PrefetchProgress(count: items.count), allowance: allowance))
  }

  var progress: PrefetchProgress {
    var progress = state.withLock(\.progress)
    progress.elapsed = start.duration(to: clock.now)
    return progress
  }

  func stop() {
    let loads = state.withLock { state in
      state.isStopped = true
      // The last first, as they wait for the places of those before them.
      return state.loads.sorted { $0.key > $1.key }.map(\.value)
    }
    for load in loads { load.cancel() }
    lookAgain()
    calls.close()
    changes.continuation.finish()
  }

  @PipelineActor func run() async {
    defer { tellEnded() }
    // Who waits on would be woken to try servers in place of others.
    defer { calls.close() }
    loader.askAboutCost()
    let number = loader.facts.listen(priority: { .prefetch }, { [weak self] in self?.reconsider() })
    defer { loader.facts.leave(number) }
    await fetch(Array(items.indices))
    guard isWaiting else { return }
    for await _ in changes.stream {
      await fetch(takeWaiting())
      guard isWaiting else { return }
    }
  }

  private var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

  /// The items that wait, in their order; none of them waits any more.
  private func takeWaiting() -> [Int] {
    state.withLock { state in
      defer { (state.waiting, state.progress.waiting) = ([], 0) }
      return state.waiting.sorted()
    }
  }

  @PipelineActor private func fetch(_ indices: [Int]) async {
    state.withLock { $0.rest = indices[...] }
    let workers = indices.prefix(Self.concurrency).map { _ in
      Task { @PipelineActor in while let index = self.takeNext() { await self.fetch(index) } }
    }
    // Each worker ends when ``stop()`` leaves nothing to take, and cancels what it loads.
    for worker in workers { await worker.value }
  }

  private func takeNext() -> Int? { state.withLock { $0.isStopped ? nil : $0.rest.popFirst() } }

  private var isStopped: Bool { state.withLock(\.isStopped) }

  /// What comes of an item before it is loaded.
  private enum Entrance {
    /// It is loaded by this decision.
    case load((resolution: Resolution, generation: Int?))
    case leaveOut(Prefetch.Reason)
  }

  /// What begins anew so often, as its place was taken by what turned out larger, is left out.
  private static let attempts = 3

  @PipelineActor private func fetch(_ index: Int) async {
    var length: PrefetchAllowance.Length?
    for _ in 0..<Self.attempts {
      switch await enter(index, length) {
      case nil: return
      case .leaveOut(let reason)?:
        end(index, .skipped(reason))
        // It has waited for nothing, and many such would hold up all others on this thread.
        return await Task.yield()
      case .load(let beginning)?:
        guard let known = await load(index, beginning) else { return }
        length = known
      }
    }
    end(index, .skipped(.spent))
  }

  /// Waits until an image may be loaded, or is to be left out; nil after a stop.
  @PipelineActor private func enter(_ index: Int, _ length: PrefetchAllowance.Length?) async -> Entrance? {
    while true {
      guard !isStopped else { return nil }
      guard loader.pressure.allowsPrefetch else { return .leaveOut(.memory) }
      let generation = loader.facts.generation
      let decided = loader.decide(items[index])
      let role: ImageVariant.Role
      switch verdict(decided) {
      case .skip(let reason): return .leaveOut(reason)
      case .load(let wanted): role = wanted
      }
      let variant = items[index][role]
      let entry = await withCheckedContinuation { continuation in
        let entry = state.withLock { state -> PrefetchAllowance.Entry? in
          let entry =
            state.isStopped
            ? .wait : state.allowance.enter(index, size: variant?.size, after: length, of: variant?.url.key)
          guard entry == .wait, !state.isStopped else { return entry }
          state.waiters.append(continuation)
          return nil
        }
        if let entry { continuation.resume(returning: entry) }
      }
      switch entry {
      case .begin: return .load((decided.resolution, generation))
      case .leaveOut(let reason): return .leaveOut(reason)
      case .wait: continue
      }
    }
  }

  /// Lets those who wait see whether they may begin.
  private func lookAgain() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: .wait) }
  }

  /// Loads an image, and tells how that ended.
  ///
  /// - Returns: Nil, unless it has to wait for room; then what is known of its length by now.
  @PipelineActor private func load(
    _ index: Int,
    _ decided: (resolution: Resolution, generation: Int?)
  ) async -> PrefetchAllowance.Length? {
    var operation = ImageLoad(loader: loader, item: items[index], facts: [:])
    (operation.handle, operation.waitsForSilentHosts) = (LoadHandle(.prefetch), !waits)
    operation.accounting = { [weak self] in self?.note($0, index, isFirst: $1) }
    operation.decided = decided
    operation.allowsFallback = { [weak self] in
      guard let self else { return false }
      let verdict = verdict($0.decision, in: $0.situation, by: loader.policy.current())
      return if case .load = verdict { true } else { false }
    }
    let load = Task { @PipelineActor [operation] in try await operation.run() }
    let isOver = state.withLock { state in
      state.loads[index] = load
      return state.isStopped || state.reasons[index] != nil
    }
    if isOver { load.cancel() }
    let result = await load.result
    let (reason, received, length) = state.withLock { state in
      state.loads[index] = nil
      let length = state.allowance.length(of: index)
      return (state.reasons.removeValue(forKey: index), state.allowance.leave(index), length)
    }
    defer { lookAgain() }
    switch result {
    case .success(let image) where image.failure?.isFinal == false:
      // The thumbnail is there, and yet asking again for the original may help.
      if let failure = image.failure { endFailed(index, failure) }
    case .success(let image) where image.source != .network: endCached(index, image)
    case .success(let image):
      calls.forget(image.variant.url)
      end(index, Self.result(of: image, received))
    case .failure(let error as LoadError) where error.code == .cancelled:
      if reason == .spent { return length.map { .announced($0) } ?? .open }
      if let reason { end(index, .skipped(reason)) }
    case .failure(let error as LoadError) where error.code == .nothingToShow: end(index, .skipped(.offline))
    case .failure(let error as LoadError): endFailed(index, error)
    case .failure: break
    }
    return nil
  }

  /// Counts what has come, and ends what becomes too much; the first time with the head of the answer.
  private func note(_ told: LoadProgress, _ index: Int, isFirst: Bool) {
    let (isHead, loads) = state.withLock { state in
      let before = state.allowance.spent
      // What comes for another load alone leaves as much room as before.
      let isNews = isFirst || !state.allowance.hasBegun(index)
      let reason = state.allowance.note(index, told, isFirst: isFirst)
      state.progress.received = ByteCount(state.allowance.spent)
      let ended = reason == nil ? [] : state.allowance.sharing(with: index)
      for index in ended { state.reasons[index] = reason }
      return (isNews && state.allowance.spent == before, ended.map { state.loads[$0] })
    }
    for load in loads { load?.cancel() }
    if isHead || !loads.isEmpty { lookAgain() }
  }

  /// Ends what would not be begun now, after the facts have changed.
  func reconsider() {
    changes.continuation.yield()
    lookAgain()
    Task { @PipelineActor in self.endOutdated() }
  }

  private func endOutdated() {
    for (index, load) in state.withLock(\.loads) {
      // What has come meanwhile is in the cache.
      guard case .skip(let reason) = verdict(index), reason != .cached else { continue }
      // One that has ended meanwhile must not find it when it begins anew.
      state.withLock { if $0.loads[index] == load { $0.reasons[index] = reason } }
      load.cancel()
    }
  }

  func end(_ index: Int, _ result: Prefetch.Outcome.Result) {
    if waits, case .skipped(let reason) = result, reason == .dear || reason == .offline {
      return state.withLock { state in
        state.waiting.append(index)
        state.progress.waiting = state.waiting.count
      }
    }
    let elapsed = start.duration(to: clock.now)
    let isFirst = state.withLock { state in
      switch result {
      case .fetched: state.progress.fetched += 1
      case .unkept: state.progress.unkept += 1
      case .skipped(.cached): state.progress.cached += 1
      case .skipped(let reason): state.progress.skipped[reason, default: 0] += 1
      case .failed: state.progress.failed += 1
      }
      var outcome = Prefetch.Outcome(index: index, result: result, progress: state.progress)
      outcome.progress.elapsed = elapsed
      state.ended.append(outcome)
      return state.ended.count == 1
    }
    // To wake who listens for each of many small images costs as much as to fetch it.
    if isFirst { loader.writes.afterwards { self.tellEnded() } }
  }

  private func tellEnded() {
    telling.withLock { _ in
      let ended = state.withLock { state in
        defer { state.ended = [] }
        return state.ended
      }
      for outcome in ended { tell(outcome) }
    }
  }
}
