import FeedimgModel
import FeedimgPolicy
import Synchronization

/// Does the work of a prefetch: a few items at a time, in their order.
final class PrefetchWorker: Sendable {
  private struct State {
    var progress: PrefetchProgress
    /// The loads that run, by item; told to end when they are no longer wanted.
    var loads: [Int: Task<LoadedImage, any Error>] = [:]
    /// Bytes of each load so far.
    var received: [Int: Int] = [:]
    /// Why a load was told to end.
    var reasons: [Int: Prefetch.Reason] = [:]
    var isStopped = false
    /// Items that wait for a better network.
    var waiting: [Int] = []
  }

  /// Enough to fill all places that there may be, few enough to be overtaken.
  private static let concurrency = 16

  private let loader: ImageLoader
  private let items: [FeedItem]
  private let limits: Prefetch.Limits
  /// Whether items wait for a better network, rather than being left out.
  private let waits: Bool
  /// Something has changed that decisions depend on; ends when it is stopped.
  private let changes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
  private let tell: @Sendable (Prefetch.Outcome) -> Void
  private let clock = SuspendingClock()
  private let start: SuspendingClock.Instant
  /// Guards how far it has come; loads are ended and outcomes told outside.
  private let state: Mutex<State>

  init(
    loader: ImageLoader,
    items: [FeedItem],
    limits: Prefetch.Limits,
    waits: Bool = false,
    tell: @escaping @Sendable (Prefetch.Outcome) -> Void
  ) {
    (self.loader, self.items, self.limits, self.tell) = (loader, items, limits, tell)
    self.waits = waits
    changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    start = clock.now
    state = Mutex(State(progress: PrefetchProgress(count: items.count)))
  }

  var progress: PrefetchProgress {
    var progress = state.withLock(\.progress)
    progress.elapsed = start.duration(to: clock.now)
    return progress
  }

  func stop() {
    let loads = state.withLock { state in
      state.isStopped = true
      return Array(state.loads.values)
    }
    for load in loads { load.cancel() }
    changes.continuation.finish()
  }

  func run() async {
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

  private func fetch(_ indices: [Int]) async {
    await withTaskGroup(of: Void.self) { group in
      for (count, index) in indices.enumerated() {
        if count >= Self.concurrency { await group.next() }
        guard !isStopped else { break }
        group.addTask(executorPreference: loader.disk) { await self.fetch(index) }
      }
    }
  }

  private var isStopped: Bool { state.withLock(\.isStopped) }

  private func verdict(_ index: Int, _ resolution: Resolution) -> PrefetchRule.Verdict {
    PrefetchRule.verdict(
      resolution,
      speaksOfPriority: loader.policy.current().table.speaksOfPriority,
      limits: limits,
      spent: state.withLock(\.progress.received)
    )
  }

  private func fetch(_ index: Int) async {
    let item = items[index]
    guard !isStopped else { return }
    guard loader.pressure.allowsPrefetch else { return end(index, .skipped(.memory)) }
    if case .skip(let reason) = verdict(index, loader.resolve(item)) {
      return end(index, .skipped(reason))
    }
    var operation = LoadOperation(loader: loader, item: item, facts: [:]) { [weak self] in
      self?.note($0, index)
    }
    operation.wish = LoadWish(.prefetch)
    let load = Task(executorPreference: loader.disk) { [operation] in try await operation.run() }
    let isStopped = state.withLock { state in
      state.loads[index] = load
      return state.isStopped
    }
    if isStopped { load.cancel() }
    let result = await load.result
    let (reason, received) = state.withLock { state in
      state.loads[index] = nil
      return (state.reasons.removeValue(forKey: index), state.received.removeValue(forKey: index) ?? 0)
    }
    switch result {
    case .success(let image) where image.source != .network: end(index, .skipped(.cached))
    case .success(let image): end(index, .fetched(image.variant, ByteCount(received)))
    case .failure(let error as LoadError) where error.code == .cancelled:
      if let reason { end(index, .skipped(reason)) }
    case .failure(let error as LoadError) where error.code == .nothingToShow: end(index, .skipped(.offline))
    case .failure(let error as LoadError): end(index, .failed(error))
    case .failure: break
    }
  }

  /// Counts what has come, and ends what becomes too much.
  private func note(_ told: LoadProgress, _ index: Int) {
    let (limits, load) = state.withLock { state in
      let before = state.received[index] ?? 0
      state.received[index] = told.received.bytes
      let sum = state.progress.received.bytes + max(0, told.received.bytes - before)
      state.progress.received = ByteCount(sum)
      return (limit(told, sum), state.loads[index])
    }
    guard let reason = limits else { return }
    state.withLock { $0.reasons[index] = reason }
    load?.cancel()
  }

  private func limit(_ told: LoadProgress, _ sum: Int) -> Prefetch.Reason? {
    if max(told.total?.bytes ?? 0, told.received.bytes) > limits.perImage.bytes { return .tooLarge }
    return sum > limits.total.bytes ? .spent : nil
  }

  /// Ends what would not be begun now, after the facts have changed.
  private func reconsider() {
    changes.continuation.yield()
    Task(executorPreference: loader.disk) { self.endOutdated() }
  }

  private func endOutdated() {
    for (index, load) in state.withLock(\.loads) {
      guard case .skip(let reason) = verdict(index, loader.resolve(items[index])) else { continue }
      // What has come meanwhile is in the cache, and what reaches the limit is ended where that shows.
      guard reason != .cached, reason != .spent else { continue }
      state.withLock { $0.reasons[index] = reason }
      load.cancel()
    }
  }

  private func end(_ index: Int, _ result: Prefetch.Outcome.Result) {
    if waits, case .skipped(let reason) = result, reason == .dear || reason == .offline {
      return state.withLock { state in
        state.waiting.append(index)
        state.progress.waiting = state.waiting.count
      }
    }
    state.withLock { state in
      switch result {
      case .fetched: state.progress.fetched += 1
      case .skipped(.cached): state.progress.cached += 1
      case .skipped(let reason): state.progress.skipped[reason, default: 0] += 1
      case .failed: state.progress.failed += 1
      }
    }
    tell(Prefetch.Outcome(index: index, result: result, progress: progress))
  }
}
