import FeedimgCache
import FeedimgJSON

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
    removed = verification.removed
    damaged = verification.damaged
    unreadable = verification.unreadable
    restored = 0
  }

  /// The same as one line of JSON.
  public var json: String {
    func list(_ urls: [String]) -> JSONValue { .array(urls.map { .string($0) }) }
    let value: JSONValue = [
      "whole": .integer(whole), "removed": list(removed), "damaged": list(damaged),
      "unreadable": list(unreadable), "restored": .integer(restored),
    ]
    return value.text(.compact)
  }
}
