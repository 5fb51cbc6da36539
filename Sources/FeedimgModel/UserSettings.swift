/// The user's settings.
///
/// Each has a default.
public struct UserSettings: Sendable, Hashable {
  /// Loads originals also on cellular networks and on networks of unknown kind.
  public var alwaysLoadOriginalsOnCellular = false
  /// The limit of stored originals on disk.
  public var cacheOriginalsLimit = ByteCount.mebibytes(512)
  /// The limit of stored thumbnails on disk; separate, so that originals cannot evict them.
  public var cacheThumbnailsLimit = ByteCount.mebibytes(128)
  /// The limit of pinned images on disk, in addition to the others.
  public var cachePinnedLimit = ByteCount.mebibytes(256)
  /// The limit of images in the memory of one process; nil for a share of the memory available to the
  /// process.
  public var cacheMemoryLimit: ByteCount?
  /// The cache removes images that were not used for this many days.
  public var cacheExpiryDays = 7
  /// The limit of a body; feedimg discards longer ones.
  public var downloadLimit = ByteCount.mebibytes(64)
  /// Reduces data use: policies may use it, and requests send it (`Save-Data`).
  public var savesData = false
  /// The data budget on cellular per month, for policies that use it; nil for none.
  public var cellularBudget: ByteCount?
  /// The day of the month on which the budget period starts; in shorter months, the last day.
  public var cellularBudgetDay = 1
  /// The networks that the user marked as metered (`yes`) or not (`no`).
  public var markedNetworks: [NetworkName: Metered] = [:]

  /// Creates the default settings.
  public init() {}
}

/// Reads the user's settings (a port).
package protocol SettingsReading: Sendable {
  /// The current settings, including changes that another process just made.
  func currentSettings() -> UserSettings

  /// New warnings about the settings, each once, one line each.
  func takeWarnings() -> [String]

  /// The current settings, then each change. Ends when the consumer stops.
  func changes() -> AsyncStream<UserSettings>
}
