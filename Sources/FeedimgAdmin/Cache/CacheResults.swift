import FeedimgCache
import FeedimgJSON
public import FeedimgModel

// A result in the form that the command prints.
private func line(_ members: JSONValue) -> String { members.text(.compact) }

private func list(_ urls: [String]) -> JSONValue { .array(urls.map(JSONValue.string)) }

/// What a check of all stored images has found and done.
public struct CacheCheck: Sendable, Hashable {
  /// How many are as they were stored.
  public var whole: Int
  /// The URLs of those that were missing or changed, and have been removed.
  public var removed: [String]
  /// The URLs of those that were missing or changed, and could not be removed.
  public var damaged: [String]
  /// The URLs of those that cannot be read now, and have been kept.
  public var unreadable: [String]
  /// Always zero: files that the index does not know are removed.
  public var restored: Int

  /// Whether all that is left is as it was stored.
  public var isInOrder: Bool { damaged.isEmpty && unreadable.isEmpty }

  init(_ verification: CacheVerification) {
    whole = verification.whole
    removed = verification.removed.map(ImageURL.withoutCredentials)
    damaged = verification.damaged.map(ImageURL.withoutCredentials)
    unreadable = verification.unreadable.map(ImageURL.withoutCredentials)
    restored = 0
  }

  /// The same as one line of JSON.
  public var json: String {
    line([
      "whole": .integer(whole), "removed": list(removed), "damaged": list(damaged),
      "unreadable": list(unreadable), "restored": .integer(restored),
    ])
  }
}

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
    unfinished = trimming.partialDownloads
    size = trimming.size
    pinned = trimming.pinned
  }

  /// The same as one line of JSON.
  public var json: String {
    line([
      "removed": .integer(count), "unfinished": .integer(unfinished), "bytes": .integer(size.bytes),
      "pinnedBytes": .integer(pinned.bytes),
    ])
  }
}

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
    damaged = result.damaged.map(ImageURL.withoutCredentials)
    personal = result.personal
  }

  /// The same as one line of JSON.
  public var json: String {
    line([
      "exported": .integer(count), "bytes": .integer(size.bytes),
      "damaged": list(damaged), "personal": .integer(personal),
    ])
  }
}

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
    line([
      "imported": .integer(count), "bytes": .integer(size.bytes), "present": .integer(present),
      "leftOut": .integer(leftOut),
    ])
  }
}
