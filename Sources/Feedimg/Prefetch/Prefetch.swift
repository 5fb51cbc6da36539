public import FeedimgModel
import FeedimgPipeline
import Synchronization

/// Images on their way into the cache that nobody looks at yet.
///
/// Stops when asked, and when nobody holds on to it any more; what has come of an unfinished image is kept where it
/// can be gone on with.
public final class Prefetch: Sendable {
  /// What may be spent.
  public struct Limits: Sendable, Hashable {
    /// Over all items.
    public var total: ByteCount
    /// On one image; a larger one is left out, or given up as soon as its size is known.
    public var perImage: ByteCount

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - total: Over all items.
    ///   - perImage: On one image.
    public init(total: ByteCount = .mebibytes(64), perImage: ByteCount = .mebibytes(8)) {
      (self.total, self.perImage) = (total, perImage)
    }
  }

  /// Why an item is left out.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Its image is cached already.
    case cached
    /// There is no network.
    case offline
    /// The policy would load nothing.
    case policy
    /// Data costs, may cost, or is to be saved (the setting `data-saver`), and the policy does not say that it is worth it.
    case dear = "data costs"
    /// The image is larger than one may be.
    case tooLarge = "too large"
    /// The computer is short of memory.
    case memory
    /// The limit over all items is reached.
    case spent = "limit reached"
  }

  /// What became of one item.
  public struct Outcome: Sendable, Hashable {
    /// How it ended.
    public enum Result: Sendable, Hashable {
      /// The image is in the cache now; so many bytes were moved for it.
      case fetched(ImageVariant, ByteCount)
      /// The image came, for so many bytes, but is not in the cache; why, in words. The next prefetch fetches it again.
      case unkept(ImageVariant, ByteCount, String)
      /// Left out.
      case skipped(Reason)
      /// The image could not be had.
      case failed(LoadError)
    }

    /// Which item, counted from 0.
    public var index: Int
    /// How it ended.
    public var result: Result
    /// How far all of them have come.
    public var progress: PrefetchProgress
  }

  private let worker: PrefetchWorker
  private let task: Task<Void, Never>

  /// What becomes of the items, as they end, and now and then the progress of those that run.
  ///
  /// For one consumer; ends when all items are done with, or after ``stop()``.
  public let outcomes: AsyncStream<Outcome>

  init(_ loader: ImageLoader, _ items: [FeedItem], _ limits: Limits, waits: Bool) {
    let (outcomes, continuation) = AsyncStream.makeStream(of: Outcome.self)
    let worker = PrefetchWorker(loader: loader, items: items, limits: limits, waits: waits) {
      continuation.yield($0)
    }
    self.worker = worker
    self.outcomes = outcomes
    task = Task { @PipelineActor in
      await worker.run()
      continuation.finish()
    }
  }

  deinit { stop() }

  /// How far it has come.
  public var progress: PrefetchProgress { worker.progress }

  /// Begins nothing more and stops what runs, unless somebody else waits for it; harmless when repeated.
  public func stop() {
    worker.stop()
    task.cancel()
  }

  /// Waits until all items are done with, or it was stopped.
  ///
  /// - Returns: How far it came.
  @discardableResult
  public func finish() async -> PrefetchProgress {
    await task.value
    return worker.progress
  }
}

extension ImageLoader {
  /// Fetches the images of items into the cache, before anybody looks at them.
  ///
  /// Only what the policy would load, after all that is wanted more urgently, and nothing where data costs unless the
  /// policy says so by its column `priority`.
  ///
  /// - Parameters:
  ///   - items: Those that will be wanted first in front.
  ///   - limits: What may be spent.
  ///   - waitsForNetwork: Whether items are kept that there is no network for, or where data costs, also where their
  ///     thumbnails are cached, and those whose server is left alone as nothing comes from it; they are gone on with as
  ///     soon as that changes, which for a server is tried now and then, five minutes apart at most. If not, they are
  ///     left out, or fail.
  /// - Returns: To be held on to while it shall go on.
  public func prefetch(
    _ items: [FeedItem],
    limits: Prefetch.Limits = Prefetch.Limits(),
    waitsForNetwork: Bool = false
  ) -> Prefetch {
    Prefetch(self, items, limits, waits: waitsForNetwork)
  }
}
