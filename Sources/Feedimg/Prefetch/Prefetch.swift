public import FeedimgModel
import FeedimgPipeline
import Synchronization

/// A running prefetch, which fetches images into the cache before a view shows them.
///
/// The prefetch stops when ``stop()`` is called or the value is released. The bytes of an unfinished image
/// are kept if its download can resume.
public final class Prefetch: Sendable {
  /// The most that a prefetch may transfer.
  public struct Limits: Sendable, Hashable {
    /// The most bytes for all items together.
    public var total: ByteCount
    /// The most bytes for one image; a larger one is skipped, or stopped as soon as its size is known.
    public var perImage: ByteCount

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - total: The most bytes for all items together.
    ///   - perImage: The most bytes for one image.
    public init(total: ByteCount = .mebibytes(64), perImage: ByteCount = .mebibytes(8)) {
      (self.total, self.perImage) = (total, perImage)
    }
  }

  /// The reason why an item is skipped.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The image is already cached.
    case cached
    /// No network is available.
    case offline
    /// The policy would load nothing.
    case policy
    /// Data costs or may cost money, or the setting `data-saver` is on, and the policy makes no exception.
    case dataCosts = "data costs"
    /// The image is larger than the limit for one image.
    case tooLarge = "too large"
    /// The system is short of memory.
    case memory
    /// The limit for all items is reached.
    case spent = "limit reached"
  }

  /// The outcome of one item.
  public struct Outcome: Sendable, Hashable {
    /// The ways in which an item can end.
    public enum Result: Sendable, Hashable {
      /// The image is now in the cache; the transfer took this many bytes.
      case fetched(ImageVariant, ByteCount)
      /// The image was fetched with this many bytes but is not in the cache, for this reason.
      ///
      /// The next prefetch fetches it again.
      case unkept(ImageVariant, ByteCount, String)
      /// The item was skipped.
      case skipped(Reason)
      /// The image could not be loaded.
      case failed(LoadError)
    }

    /// The index of the item, from 0.
    public var index: Int
    /// How the item ended.
    public var result: Result
    /// The progress of the whole prefetch.
    public var progress: PrefetchProgress
  }

  private let worker: PrefetchWorker
  private let task: Task<Void, Never>

  /// The outcomes of the items as they end, with the progress of the prefetch.
  ///
  /// The stream is for one consumer. It ends when all items have ended, or after ``stop()``.
  public let outcomes: AsyncStream<Outcome>

  init(_ loader: ImageLoader, _ items: [FeedItem], _ limits: Limits, waits: Bool) {
    let (outcomes, continuation) = AsyncStream.makeStream(of: Outcome.self)
    let worker = PrefetchWorker(loader: loader, items: items, limits: limits, waits: waits) {
      continuation.yield($0)
    }
    self.worker = worker
    self.outcomes = outcomes
    task = PipelineActor.task {
      await worker.run()
      continuation.finish()
    }
  }

  deinit { stop() }

  /// The progress so far.
  public var progress: PrefetchProgress { worker.progress }

  /// Starts no more loads and cancels those that run, unless another caller waits for them.
  ///
  /// Further calls have no effect.
  public func stop() {
    worker.stop()
    task.cancel()
  }

  /// Waits until all items have ended or the prefetch was stopped.
  ///
  /// - Returns: The final progress.
  @discardableResult
  public func finish() async -> PrefetchProgress {
    await task.value
    return worker.progress
  }
}

extension ImageLoader {
  /// Fetches the images of items into the cache before a view shows them.
  ///
  /// The prefetch loads only what the policy would load, after all more urgent loads. On a network where data
  /// costs money, it loads only if the policy's `priority` column permits it.
  ///
  /// An item may have to wait for three reasons: there is no network, data costs money, or its server does
  /// not respond. With `waitsForNetwork`, such items resume when that changes; otherwise they are skipped or
  /// fail. A server that does not respond is tried again at intervals of at most five minutes.
  ///
  /// - Parameters:
  ///   - items: The items, in the order in which they will be needed.
  ///   - limits: The most bytes to transfer.
  ///   - waitsForNetwork: Whether items wait for a better network or server, even if their thumbnails are
  ///     cached.
  /// - Returns: The running prefetch; keep it as long as it should run.
  public func prefetch(
    _ items: [FeedItem],
    limits: Prefetch.Limits = Prefetch.Limits(),
    waitsForNetwork: Bool = false
  ) -> Prefetch {
    Prefetch(self, items, limits, waits: waitsForNetwork)
  }
}

/// The progress of a prefetch.
public struct PrefetchProgress: Sendable, Hashable {
  /// The number of items.
  public var count: Int
  /// Images that were fetched into the cache.
  public var fetched = 0
  /// Images that were fetched but could not, or must not, be kept in the cache.
  public var unkept = 0
  /// Items whose image was already cached.
  public var cached = 0
  /// Skipped items, by reason.
  public var skipped: [Prefetch.Reason: Int] = [:]
  /// Items whose image could not be loaded.
  public var failed = 0
  /// Items that wait for a network, for an unmetered one, or for a server that does not respond.
  ///
  /// They do not count as done.
  public var waiting = 0
  /// Bytes that came over the network, those of unfinished images included.
  public var received = ByteCount(0)
  /// The time since the prefetch started.
  public var elapsed = Duration.zero

  init(count: Int) { self.count = count }

  /// Items that have ended, for any reason.
  public var done: Int { fetched + unkept + cached + failed + skipped.values.reduce(0, +) }

  /// The average rate in bytes a second; nil before the first byte.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return received.bytes > 0 && seconds > 0 ? Double(received.bytes) / seconds : nil
  }

  /// The estimated remaining time, if the rest is like the items so far; nil before an item was transferred.
  public var remaining: Duration? {
    let transferred = fetched + unkept + failed
    guard transferred > 0, done <= count else { return nil }
    // Assume that remaining items need a transfer as often as those that are done.
    let share = Double(transferred) / Double(done)
    return elapsed / Double(transferred) * (Double(count - done) * share)
  }
}
