public import FeedimgModel
import FeedimgPipeline

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
