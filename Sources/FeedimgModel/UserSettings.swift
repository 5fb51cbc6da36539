/// What the user has asked for; every value has a default.
public struct UserSettings: Sendable, Hashable {
  /// Load originals also where the network is cellular or of unknown kind.
  public var alwaysLoadOriginalsOnCellular = false
  /// The most that stored originals may take on disk.
  public var cacheOriginalsLimit = ByteCount.mebibytes(512)
  /// The most that stored thumbnails may take on disk; apart, so that originals cannot evict them.
  public var cacheThumbnailsLimit = ByteCount.mebibytes(128)
  /// The most that pinned images may take on disk, beside the others; more cannot be pinned.
  public var cachePinnedLimit = ByteCount.mebibytes(256)
  /// The most that images may take in memory, in one process; nil for a part of what the process may use.
  public var cacheMemoryLimit: ByteCount?
  /// Stored images unused for so many days are removed.
  public var cacheExpiryDays = 7
  /// A longer body is given up, and nothing of it kept.
  public var downloadLimit = ByteCount.mebibytes(64)
  /// Spend as little as possible: policies may ask about it, and servers are told (`Save-Data`).
  public var savesData = false
  /// The most to receive on cellular in a month, for policies that ask about it; nil for no such limit.
  public var cellularBudget: ByteCount?
  /// The day of the month on which the budget begins anew; in shorter months their last day.
  public var cellularBudgetDay = 1
  /// The networks that the user marked, with whether their data costs; only `yes` and `no` are marks.
  public var markedNetworks: [NetworkName: Metered] = [:]

  /// All defaults.
  public init() {}
}
