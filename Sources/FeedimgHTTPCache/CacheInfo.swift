package import FeedimgModel

/// The contents and the counters of a disk cache.
package struct CacheInfo: Sendable, Hashable {
  /// The contents of one budget, or of the partial downloads.
  package struct Part: Sendable, Hashable {
    package var entries = 0
    package var size = ByteCount(0)
    package var limit: ByteCount
  }

  package var folder: String
  /// Originals that are not pinned.
  package var originals: Part
  /// Thumbnails that are not pinned.
  package var thumbnails: Part
  /// Pinned images of both roles.
  package var pinned: Part
  /// The partial downloads, which have a limit of their own.
  package var partialDownloads: Part
  package var unusedDays: Int
  /// The oldest last use of an image, in seconds since 1970; nil without images.
  package var oldestUse: Double?
  /// The newest last use of an image, in seconds since 1970; nil without images.
  package var newestUse: Double?
  /// Reads that found an image, and reads that did not, since the index was created.
  package var hits = 0
  package var misses = 0
  /// An estimate of the disk space of the whole folder, in whole blocks.
  package var sizeOnDisk = ByteCount(0)

  package var entries: Int { originals.entries + thumbnails.entries + pinned.entries }
  package var size: ByteCount { ByteCount(originals.size.bytes + thumbnails.size.bytes + pinned.size.bytes) }

  /// The information on an empty cache.
  init(folder: String, limits: CacheLimits) {
    self.folder = folder
    originals = Part(limit: limits.originals)
    thumbnails = Part(limit: limits.thumbnails)
    pinned = Part(limit: limits.pinned)
    partialDownloads = Part(limit: limits.partialDownloads)
    unusedDays = limits.unusedDays
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
