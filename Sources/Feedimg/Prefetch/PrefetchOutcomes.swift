import FeedimgModel

/// The outcomes of a prefetch so far, and the items that wait for a better network.
///
/// One lock must guard all of it, because each outcome carries the progress at its end.
struct PrefetchOutcomes: Sendable {
  private let start = SuspendingClock.now
  /// The numbers of outcomes; ``progress`` adds the rest.
  private var counts: PrefetchProgress
  /// The bytes that came over the network.
  var received = ByteCount(0)
  /// Items that wait for a better network.
  var waiting: [Int] = []
  /// Outcomes that have not been reported yet.
  private var ended: [Prefetch.Outcome] = []

  init(count: Int) { counts = PrefetchProgress(count: count) }

  var progress: PrefetchProgress {
    var progress = counts
    (progress.waiting, progress.received) = (waiting.count, received)
    progress.elapsed = start.duration(to: SuspendingClock.now)
    return progress
  }

  /// Counts an outcome, and keeps it until ``takeEnded()``.
  ///
  /// - Returns: Whether it is the only outcome to report.
  mutating func add(_ index: Int, _ result: Prefetch.Outcome.Result) -> Bool {
    switch result {
    case .fetched: counts.fetched += 1
    case .unkept: counts.unkept += 1
    case .skipped(.cached): counts.cached += 1
    case .skipped(let reason): counts.skipped[reason, default: 0] += 1
    case .failed: counts.failed += 1
    }
    ended.append(Prefetch.Outcome(index: index, result: result, progress: progress))
    return ended.count == 1
  }

  /// Removes and returns the outcomes to report, in the order in which they were added.
  mutating func takeEnded() -> [Prefetch.Outcome] {
    defer { ended = [] }
    return ended
  }

  /// Removes and returns the waiting items, in order.
  mutating func takeWaiting() -> [Int] {
    defer { waiting = [] }
    return waiting.sorted()
  }
}
