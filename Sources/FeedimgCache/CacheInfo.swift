package import FeedimgModel

/// What the disk cache holds and how it has served.
package struct CacheInfo: Sendable, Hashable {
  /// What is stored of one role.
  package struct Share: Sendable, Hashable {
    package var role: ImageVariant.Role
    package var entries: Int
    package var size: ByteCount
    package var limit: ByteCount
  }

  package var folder: String
  /// Originals, then thumbnails.
  package var shares: [Share]
  package var unusedDays: Int
  /// When the entry unused for longest was last used, in seconds since 1970; nil where there is none.
  package var oldestUse: Double?
  /// When an entry was last used, in seconds since 1970; nil where there is none.
  package var newestUse: Double?
  /// The reads that found an image, and those that did not, since the index was made.
  package var hits: Int
  package var misses: Int

  package var entries: Int { shares.reduce(0) { $0 + $1.entries } }
  package var size: ByteCount { ByteCount(shares.reduce(0) { $0 + $1.size.bytes }) }
}

/// What a check of every body has found.
package struct CacheVerification: Sendable, Hashable {
  /// The bodies that are as they were stored.
  package var whole = 0
  /// The keys of those that are missing or were changed; they have been removed.
  package var removed: [String] = []
  /// How many bodies were found that the index did not know, and are known again.
  package var restored = 0
  /// The keys of those that cannot be read now; they have been kept.
  package var unreadable: [String] = []
}
