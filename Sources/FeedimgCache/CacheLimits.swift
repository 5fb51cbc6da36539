package import FeedimgModel

/// How much the disk cache may keep, and for how long.
package struct CacheLimits: Sendable, Hashable {
  /// The most that originals may take.
  package var originals: ByteCount
  /// The most that thumbnails may take; apart, so that a burst of originals cannot evict what offline needs.
  package var thumbnails: ByteCount
  /// The most that pinned images of both roles may take, beside the rest; more cannot be pinned.
  package var pinned: ByteCount
  /// Images unused for longer are removed; in days.
  package var unusedDays: Int

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

  /// As the user has set them.
  package init(_ settings: UserSettings) {
    self.init(
      originals: settings.cacheOriginalsLimit,
      thumbnails: settings.cacheThumbnailsLimit,
      pinned: settings.cachePinnedLimit,
      unusedDays: settings.cacheExpiryDays
    )
  }

  /// How much a budget may hold.
  package subscript(budget: Budget) -> ByteCount {
    switch budget {
    case .originals: originals
    case .thumbnails: thumbnails
    case .pinned: pinned
    }
  }

  /// The most that beginnings of images may take, beside the budgets: an eighth of that of originals.
  var beginnings: ByteCount { ByteCount(min(originals.bytes / 8, Self.greatestBeginnings.bytes)) }

  private static let greatestBeginnings = ByteCount.mebibytes(64)

  /// In seconds; days beyond a human life count as that, so that no sum overflows.
  var unusedSeconds: Int { min(unusedDays, 36_500) * 86_400 }
}
