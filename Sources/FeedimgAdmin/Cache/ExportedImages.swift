import FeedimgCache
import FeedimgJSON
public import FeedimgModel

/// What an export of the cache has written.
public struct ExportedImages: Sendable, Hashable {
  /// How many images.
  public var count: Int
  /// What they take, without what the archive adds.
  public var size: ByteCount
  /// The URLs of those that were missing or changed; they were left out.
  public var damaged: [String]
  /// How many were left out as they were fetched with credentials.
  public var personal: Int

  init(_ result: CacheExport) {
    count = result.entries
    size = result.size
    damaged = result.damaged
    personal = result.personal
  }

  /// The same as one line of JSON.
  public var json: String {
    let value: JSONValue = [
      "exported": .integer(count), "bytes": .integer(size.bytes),
      "damaged": .array(damaged.map { .string($0) }), "personal": .integer(personal),
    ]
    return value.text(.compact)
  }
}
