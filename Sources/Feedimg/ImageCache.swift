import FeedimgCache
public import FeedimgModel
import FeedimgSettings

/// The images that are kept on disk, as programs and people look after them.
public struct ImageCache: Sendable {
  private let cache: DiskCache
  private let settings: SettingsStore

  /// The cache in the folder that a loader of this configuration would use; nothing is opened or made yet.
  ///
  /// - Parameter configuration: Its folders count, and the limits in the settings.
  /// - Throws: ``ConfigurationError`` where no folder is known.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    let folders = Folders(configuration)
    settings = SettingsStore(folder: try folders.configuration)
    let limits = CacheLimits(settings.currentSettings())
    cache = DiskCache(folder: try folders.cache, limits: limits, clock: SystemClock.seconds)
  }

  /// What of the settings could not be used, so that other limits hold than the user meant; each thing once.
  public var warnings: [String] { settings.takeWarnings() }

  /// How much is kept, and how much may be.
  ///
  /// - Returns: Sizes of bodies as stored.
  /// - Throws: ``ConfigurationError`` where the cache cannot be read.
  public func summary() throws(ConfigurationError) -> CacheSummary {
    try naming { () throws(CacheError) in CacheSummary(try cache.info()) }
  }

  /// All images, the last used first.
  ///
  /// - Returns: Without their bytes, which are in the files.
  /// - Throws: ``ConfigurationError`` where the cache cannot be read.
  public func images() throws(ConfigurationError) -> [CachedImage] {
    try naming { () throws(CacheError) in try cache.list().map(CachedImage.init) }
  }

  /// Removes the image of a URL.
  ///
  /// - Parameter url: As the item spells it.
  /// - Returns: Whether there was one.
  /// - Throws: ``ConfigurationError`` where the cache cannot be written.
  public func remove(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    try naming { () throws(CacheError) in try cache.remove(url.key) }
  }

  /// Removes all images.
  ///
  /// - Returns: What was removed, as far as it could be told.
  /// - Throws: ``ConfigurationError`` where the cache cannot be written.
  public func clear() throws(ConfigurationError) -> CacheSummary {
    try naming { () throws(CacheError) in
      // A damaged index cannot be summed up, but it can be cleared.
      let info = try? cache.info()
      try cache.clear()
      if let info { return CacheSummary(info) }
      return CacheSummary(try cache.info())
    }
  }

  private func naming<Answer>(_ body: () throws(CacheError) -> Answer) throws(ConfigurationError) -> Answer {
    do throws(CacheError) {
      return try body()
    } catch {
      throw ConfigurationError([error.message], isSystemFailure: true)
    }
  }
}
