import FeedimgCache
import FeedimgJSON
public import FeedimgModel

/// What was removed from the cache to make room.
public struct CacheTrim: Sendable, Hashable {
  /// How many images.
  public var count: Int
  /// How many unfinished transfers, whose bytes were kept.
  public var unfinished: Int
  /// What all of them took.
  public var size: ByteCount
  /// What pinned images still take, which are never removed.
  public var pinned: ByteCount

  init(_ trimming: CacheTrimming) {
    count = trimming.entries
    unfinished = trimming.beginnings
    size = trimming.size
    pinned = trimming.pinned
  }

  /// The same as one line of JSON.
  public var json: String {
    let value: JSONValue = [
      "removed": .integer(count), "unfinished": .integer(unfinished), "bytes": .integer(size.bytes),
      "pinnedBytes": .integer(pinned.bytes),
    ]
    return value.text(.compact)
  }
}
