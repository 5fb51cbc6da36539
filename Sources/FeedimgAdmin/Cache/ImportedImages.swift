import FeedimgCache
import FeedimgJSON
public import FeedimgModel

/// What an import has brought into the cache.
public struct ImportedImages: Sendable, Hashable {
  /// How many images were stored.
  public var count: Int
  /// What they take.
  public var size: ByteCount
  /// How many were there already, as new or newer.
  public var present: Int
  /// How many did not fit into the limits.
  public var leftOut: Int

  init(_ result: CacheImport) {
    count = result.entries
    size = result.size
    present = result.present
    leftOut = result.leftOut
  }

  /// The same as one line of JSON.
  public var json: String {
    let value: JSONValue = [
      "imported": .integer(count), "bytes": .integer(size.bytes), "present": .integer(present),
      "leftOut": .integer(leftOut),
    ]
    return value.text(.compact)
  }
}
