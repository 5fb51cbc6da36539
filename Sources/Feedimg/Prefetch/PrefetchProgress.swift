public import FeedimgModel
import FeedimgPipeline

/// How far a prefetch has come.
public struct PrefetchProgress: Sendable, Hashable {
  /// Items in all.
  public var count: Int
  /// Images that are in the cache now and were not before.
  public var fetched = 0
  /// Images that came and could not be kept in the cache, or may not be.
  public var unkept = 0
  /// Items that need nothing, as their image was cached already.
  public var cached = 0
  /// Items left out, by reason.
  public var skipped: [Prefetch.Reason: Int] = [:]
  /// Items whose image could not be had.
  public var failed = 0
  /// Items that wait for a network, for one that costs nothing, or for a server that is silent; they are not done with.
  public var waiting = 0
  /// Bytes that came over the network, of unfinished images as well.
  public var received = ByteCount(0)
  /// How long it has run.
  public var elapsed = Duration.zero

  init(count: Int) { self.count = count }

  /// Items that are done with, one way or the other.
  public var done: Int { fetched + unkept + cached + failed + skipped.values.reduce(0, +) }

  /// Bytes a second on average; nil before anything came.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return received.bytes > 0 && seconds > 0 ? Double(received.bytes) / seconds : nil
  }

  /// How much longer it will take, if the rest is like what was; nil before that can be told.
  public var remaining: Duration? {
    let transferred = fetched + unkept + failed
    guard transferred > 0, done <= count else { return nil }
    // Of those that are left, as many will need a transfer as of those that are done.
    let share = Double(transferred) / Double(done)
    return elapsed / Double(transferred) * (Double(count - done) * share)
  }
}
