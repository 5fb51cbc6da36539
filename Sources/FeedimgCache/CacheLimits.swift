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
    case .responses: ByteCount(originals.bytes / 4)
    }
  }

  /// The most that beginnings of images may take, beside the budgets: an eighth of that of originals.
  var beginnings: ByteCount { ByteCount(min(originals.bytes / 8, Self.greatestBeginnings.bytes)) }

  private static let greatestBeginnings = ByteCount.mebibytes(64)

  /// In seconds; days beyond a human life count as that, so that no sum overflows.
  var unusedSeconds: Int { min(unusedDays, 36_500) * 86_400 }
}

/// What the bytes of an entry count against; the number is its line in the account of the index.
package enum Budget: Int, Sendable, Hashable, CaseIterable {
  case originals = 0
  case thumbnails = 1
  /// Pinned images of both roles. They are never evicted; a full budget accepts no more.
  case pinned = 4
  /// The responses of `GET /v1/fetch`, which listings and exports leave out.
  case responses = 7

  /// The budgets of images.
  package static let images: [Budget] = [.originals, .thumbnails, .pinned]
  /// The budgets whose entries are evicted and expire, in the order of eviction: offline, thumbnails matter most.
  static let evictable: [Budget] = [.responses, .originals, .thumbnails]

  init(_ role: ImageVariant.Role) { self = role == .original ? .originals : .thumbnails }
}

/// The room on the file system of a cache, which gives way before the disk is full (pure).
struct DiskRoom: Sendable, Hashable {
  /// What may still be written, in bytes.
  var available: Int
  /// Of the whole file system, in bytes.
  var size: Int

  /// What is left to others: a fiftieth of the file system, 256 MiB at most; in bytes.
  ///
  /// Less would let the cache be what fills a small disk, more would empty it on a large one that is nearly full, as
  /// many are for years.
  var reserve: Int { min(max(0, size) / 50, 256 << 20) }

  /// What the cache should give back, in bytes.
  var deficit: Int { max(0, reserve - max(0, available)) }
}

/// Decides how much a budget must give up (pure).
///
/// What exceeds the budget goes at once, and with it a few entries more until a sixteenth is free, so that the next
/// commits find room without looking for something to remove, and none removes hundreds of files in a row, which
/// file systems take badly.
struct Eviction: Sendable, Hashable {
  /// The bytes that have to go before what comes may be stored.
  let required: Int
  /// The bytes that should go, as far as a step reaches; none while nothing has to.
  let desired: Int

  private var freed = 0
  private var extra = 0

  /// So many entries go at most beyond what must.
  static let step = 8

  /// Where it is to be exact, nothing goes beyond what must, as nothing is about to come.
  init(stored: Int, incoming: Int = 0, limit: ByteCount, isExact: Bool = false) {
    // A total that was damaged must not overflow what is computed from it.
    func bounded(_ count: Int) -> Int { min(max(0, count), 1 << 60) }
    required = max(0, bounded(stored) + bounded(incoming) - bounded(limit.bytes))
    desired = required == 0 || isExact ? required : required + bounded(limit.bytes) / 16
  }

  /// Whether what had to go has been taken.
  var isEnough: Bool { freed >= required }

  /// Whether the next entry, from the least recently used on, is to go.
  mutating func takes(_ size: Int) -> Bool {
    guard freed < desired else { return false }
    if isEnough {
      guard extra < Self.step else { return false }
      extra += 1
    }
    freed = min(freed + min(max(0, size), 1 << 61), 1 << 61)
    return true
  }
}
