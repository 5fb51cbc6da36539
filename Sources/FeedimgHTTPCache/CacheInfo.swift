package import FeedimgModel

/// The contents and the counters of a disk cache.
package struct CacheInfo: Sendable, Hashable {
  /// The contents of one budget.
  package struct Share: Sendable, Hashable {
    package var budget: Budget
    package var entries: Int
    package var size: ByteCount
    package var limit: ByteCount
  }

  /// The partial downloads, which have a limit of their own.
  package struct PartialDownloads: Sendable, Hashable {
    package var count: Int
    package var size: ByteCount
    package var limit: ByteCount
  }

  package var folder: String
  /// Originals, then thumbnails; both without pinned images.
  package var shares: [Share]
  /// Pinned images of both roles.
  package var pinned: Share
  package var partialDownloads: PartialDownloads
  package var unusedDays: Int
  /// The oldest last use of an image, in seconds since 1970; nil without images.
  package var oldestUse: Double?
  /// The newest last use of an image, in seconds since 1970; nil without images.
  package var newestUse: Double?
  /// Reads that found an image, and reads that did not, since the index was created.
  package var hits: Int
  package var misses: Int
  /// An estimate of the disk space of the whole folder, in whole blocks.
  package var sizeOnDisk: ByteCount

  package var entries: Int { shares.reduce(pinned.entries) { $0 + $1.entries } }
  package var size: ByteCount { ByteCount(shares.reduce(pinned.size.bytes) { $0 + $1.size.bytes }) }

  /// The information on an empty cache.
  init(folder: String, limits: CacheLimits) {
    func share(_ budget: Budget) -> Share {
      Share(budget: budget, entries: 0, size: ByteCount(0), limit: limits[budget])
    }
    self.folder = folder
    shares = [share(.originals), share(.thumbnails)]
    pinned = share(.pinned)
    partialDownloads = PartialDownloads(count: 0, size: ByteCount(0), limit: limits.partialDownloads)
    unusedDays = limits.unusedDays
    (hits, misses) = (0, 0)
    sizeOnDisk = ByteCount(0)
  }
}

/// The result of ``DiskCache/verify(progress:)``.
package struct CacheVerification: Sendable, Hashable {
  /// The number of intact bodies.
  package var whole = 0
  /// The keys whose bodies were missing or altered and were removed.
  package var removed: [String] = []
  /// The keys whose bodies are missing or altered and could not be removed.
  package var damaged: [String] = []
  /// The keys whose bodies cannot be read now; they remain.
  package var unreadable: [String] = []
}

/// The result of ``DiskCache/trim(to:progress:)``.
package struct CacheTrimming: Sendable, Hashable {
  package var entries = 0
  /// The number of removed partial downloads.
  package var partialDownloads = 0
  /// The bytes of everything that was removed.
  package var size = ByteCount(0)
  /// The bytes of pinned images, which remain.
  package var pinned = ByteCount(0)
}

/// The order of a listing.
package enum CacheOrder: String, Sendable, Hashable, CaseIterable {
  /// The most recently used first.
  case used
  /// The most recently stored first.
  case stored
  /// The largest first.
  case size
  /// By the bytes of the key.
  case key
}
