package import FeedimgModel

/// What the disk cache holds and how it has served.
package struct CacheInfo: Sendable, Hashable {
  /// What is stored in one budget.
  package struct Share: Sendable, Hashable {
    package var budget: Budget
    package var entries: Int
    package var size: ByteCount
    package var limit: ByteCount
  }

  /// What is kept of images whose transfers broke off, beside the budgets.
  package struct Beginnings: Sendable, Hashable {
    package var count: Int
    package var size: ByteCount
    package var limit: ByteCount
  }

  package var folder: String
  /// Originals, then thumbnails; neither with what is pinned.
  package var shares: [Share]
  /// Pinned images of both roles.
  package var pinned: Share
  package var beginnings: Beginnings
  package var unusedDays: Int
  /// When the entry unused for longest was last used, in seconds since 1970; nil where there is none.
  package var oldestUse: Double?
  /// When an entry was last used, in seconds since 1970; nil where there is none.
  package var newestUse: Double?
  /// The reads that found an image, and those that did not, since the index was made.
  package var hits: Int
  package var misses: Int
  /// About what bodies and index take of the disk, in whole blocks.
  package var sizeOnDisk: ByteCount

  package var entries: Int { shares.reduce(pinned.entries) { $0 + $1.entries } }
  package var size: ByteCount { ByteCount(shares.reduce(pinned.size.bytes) { $0 + $1.size.bytes }) }

  /// Of a cache that holds nothing.
  init(folder: String, limits: CacheLimits) {
    func share(_ budget: Budget) -> Share {
      Share(budget: budget, entries: 0, size: ByteCount(0), limit: limits[budget])
    }
    self.folder = folder
    shares = [share(.originals), share(.thumbnails)]
    pinned = share(.pinned)
    beginnings = Beginnings(count: 0, size: ByteCount(0), limit: limits.beginnings)
    unusedDays = limits.unusedDays
    (hits, misses) = (0, 0)
    sizeOnDisk = ByteCount(0)
  }
}

/// What a check of every body has found.
package struct CacheVerification: Sendable, Hashable {
  /// The bodies that are as they were stored.
  package var whole = 0
  /// The keys of those that are missing or were changed; they have been removed.
  package var removed: [String] = []
  /// The keys of those that are missing or were changed, and could not be removed.
  package var damaged: [String] = []
  /// The keys of those that cannot be read now; they have been kept.
  package var unreadable: [String] = []
}

/// What was removed to make room.
package struct CacheTrimming: Sendable, Hashable {
  package var entries = 0
  /// How many beginnings of images.
  package var beginnings = 0
  /// What all of them took.
  package var size = ByteCount(0)
  /// What is left of pinned images, which are never removed.
  package var pinned = ByteCount(0)
}

/// The orders in which entries can be listed, each the way people want it first.
package enum CacheOrder: String, Sendable, Hashable, CaseIterable {
  /// The last used first.
  case used
  /// The last stored first.
  case stored
  /// The largest first.
  case size
  /// By key, as bytes.
  case key
}
