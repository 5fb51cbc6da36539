package import FeedimgModel

/// How much the disk cache keeps, and for how long.
package struct CacheLimits: Sendable, Hashable {
  package var originals: ByteCount
  /// Apart from originals, so that many originals never evict the thumbnails that are needed offline.
  package var thumbnails: ByteCount
  /// The limit of pinned images of both roles.
  ///
  /// No more can be pinned when it is reached.
  package var pinned: ByteCount
  /// After so many days without use, an entry expires.
  package var unusedDays: Int
  /// How long the file of an image stays after a new version has replaced it, in seconds.
  ///
  /// A program may have printed its path just before.
  static let replacedSeconds = 600

  package init(
    originals: ByteCount,
    thumbnails: ByteCount,
    pinned: ByteCount = UserSettings().cachePinnedLimit,
    unusedDays: Int
  ) {
    self.originals = originals
    self.thumbnails = thumbnails
    self.pinned = pinned
    self.unusedDays = max(0, unusedDays)
  }

  /// The limits of the user's settings.
  package init(_ settings: UserSettings) {
    self.init(
      originals: settings.cacheOriginalsLimit,
      thumbnails: settings.cacheThumbnailsLimit,
      pinned: settings.cachePinnedLimit,
      unusedDays: settings.cacheExpiryDays
    )
  }

  /// The limit of a budget.
  package subscript(budget: Budget) -> ByteCount {
    switch budget {
    case .originals: originals
    case .thumbnails: thumbnails
    case .pinned: pinned
    case .responses: ByteCount(originals.bytes / 4)
    }
  }

  /// The limit of partial downloads, beside the budgets: an eighth of that of originals, at most 64 MiB.
  var partialDownloads: ByteCount { ByteCount(min(originals.bytes / 8, Self.maximumPartialDownloads.bytes)) }

  private static let maximumPartialDownloads = ByteCount.mebibytes(64)

  /// In seconds; capped at a hundred years, so that no sum overflows.
  var unusedSeconds: Int { min(unusedDays, 36_500) * 86_400 }
}

/// The budget of an entry.
///
/// The number is its line in the totals of the index.
package enum Budget: Int, Sendable, Hashable, CaseIterable {
  case originals = 0
  case thumbnails = 1
  /// Pinned images of both roles. They are never evicted; a full budget accepts no more.
  case pinned = 4
  /// The responses of `GET /v1/fetch`, which listings leave out.
  case responses = 7

  /// The budgets of images.
  package static let images: [Budget] = [.originals, .thumbnails, .pinned]
  /// The budgets whose entries are evicted and expire, in the order of eviction: offline, thumbnails matter most.
  static let evictable: [Budget] = [.responses, .originals, .thumbnails]

  init(_ role: ImageVariant.Role) { self = role == .original ? .originals : .thumbnails }
}

/// The free space of the file system of a cache (pure).
struct FreeSpace: Sendable, Hashable {
  /// The bytes that may still be written.
  var available: Int
  /// The size of the file system, in bytes.
  var size: Int

  /// The free bytes that the cache leaves to other programs: a fiftieth of the file system, at most 256 MiB.
  ///
  /// With less, the cache would fill a small disk. With more, it would be empty on a large disk that is nearly full.
  var reserve: Int { min(max(0, size) / 50, 256 << 20) }

  /// The bytes that the cache should free.
  var deficit: Int { max(0, reserve - max(0, available)) }
}
