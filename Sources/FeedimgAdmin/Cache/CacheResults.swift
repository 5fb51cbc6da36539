import FeedimgHTTPCache
import FeedimgJSON
public import FeedimgModel

/// One line of JSON.
private func line(_ members: JSONValue) -> String { members.text(.compact) }

private func list(_ urls: [String]) -> JSONValue { .array(urls.map(JSONValue.string)) }

/// The result of a check of all stored images.
public struct CacheCheck: Sendable, Hashable {
  /// The number of intact images.
  public var whole: Int
  /// The URLs of damaged or missing images that the check removed.
  public var removed: [String]
  /// The URLs of damaged or missing images that could not be removed.
  public var damaged: [String]
  /// The URLs of images that could not be read now and were kept.
  public var unreadable: [String]
  /// Always zero, because the check removes files without an entry in the index.
  public var restored: Int

  /// Whether all remaining images are intact and readable.
  public var isIntact: Bool { damaged.isEmpty && unreadable.isEmpty }

  init(_ verification: CacheVerification) {
    whole = verification.whole
    removed = verification.removed.map(ImageURL.withoutCredentials)
    damaged = verification.damaged.map(ImageURL.withoutCredentials)
    unreadable = verification.unreadable.map(ImageURL.withoutCredentials)
    restored = 0
  }

  /// The result as one line of JSON.
  public var json: String {
    line([
      "whole": .integer(whole), "removed": list(removed), "damaged": list(damaged),
      "unreadable": list(unreadable), "restored": .integer(restored),
    ])
  }
}

/// The result of trimming the cache.
public struct CacheTrim: Sendable, Hashable {
  /// The number of removed images.
  public var count: Int
  /// The number of removed partial downloads.
  public var unfinished: Int
  /// The bytes that were freed.
  public var size: ByteCount
  /// The bytes of pinned images, which trimming never removes.
  public var pinned: ByteCount

  init(_ trimming: CacheTrimming) {
    count = trimming.entries
    unfinished = trimming.partialDownloads
    size = trimming.size
    pinned = trimming.pinned
  }

  /// The result as one line of JSON.
  public var json: String {
    line([
      "removed": .integer(count), "unfinished": .integer(unfinished), "bytes": .integer(size.bytes),
      "pinnedBytes": .integer(pinned.bytes),
    ])
  }
}
