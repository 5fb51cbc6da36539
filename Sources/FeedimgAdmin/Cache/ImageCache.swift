public import Feedimg
import FeedimgHTTPCache
public import FeedimgModel
import FeedimgSettings
import FeedimgSystem

/// The administration of the images on disk.
public struct ImageCache: Sendable {
  let cache: DiskCache
  /// The folder of the images.
  public let folder: String
  /// The `User-Agent` of loads with this configuration, which decides whether they revalidate an image.
  let userAgent: String
  private let settings: SettingsStore

  /// Creates the administration of the cache that a loader with this configuration uses.
  ///
  /// It opens and creates no file.
  ///
  /// - Parameter configuration: The folders of cache and settings; the settings have the limits.
  /// - Throws: ``ConfigurationError`` if no folder is known.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    let folders = Folders(configuration)
    userAgent = configuration.userAgent
    settings = SettingsStore(folder: try folders.configuration)
    let current = settings.currentSettings()
    folder = try folders.cache
    cache = DiskCache(folder: folder, limits: CacheLimits(current), clock: SystemClock.seconds)
  }

  /// Creates the administration of the cache that a loader with these parts uses.
  package init(_ configuration: ImageLoader.Configuration, sharing parts: LoaderParts) {
    userAgent = configuration.userAgent
    (settings, cache, folder) = (parts.settings, parts.store, parts.cacheFolder)
  }

  /// Warnings about invalid settings, for which defaults apply; each warning is returned once.
  public var warnings: [String] { settings.takeWarnings() }

  /// The contents and limits of the cache.
  ///
  /// - Throws: ``ConfigurationError`` if the cache cannot be read.
  public func summary() throws(ConfigurationError) -> CacheSummary {
    try convertingErrors { () throws(CacheError) in CacheSummary(try cache.info()) }
  }

  /// Calls the body for each image, without loading the whole list into memory.
  ///
  /// - Parameters:
  ///   - order: The order of the images.
  ///   - isReversed: Whether to reverse the order.
  ///   - limit: The most images.
  ///   - kinds: The kinds to include.
  ///   - body: Receives an image; returns false to stop.
  /// - Throws: ``ConfigurationError`` if the cache cannot be read.
  public func forEachImage(
    by order: CachedImage.Order = .used,
    isReversed: Bool = false,
    limit: Int = .max,
    kinds: Set<CachedImage.Kind> = Set(CachedImage.Kind.allCases),
    _ body: (CachedImage) -> Bool
  ) throws(ConfigurationError) {
    try convertingErrors { () throws(CacheError) in
      let budgets = Set(kinds.map(\.budget))
      try cache.list(by: order.cacheOrder, isReversed: isReversed, limit: limit, budgets: budgets) {
        body(CachedImage($0))
      }
    }
  }

  /// Pins the image of a URL, so that it is neither evicted nor expires.
  ///
  /// Pinned images have their own limit. A newer version of the image inherits the pin. If the cache has several
  /// images, fetched with different credentials, it pins all.
  ///
  /// - Parameter url: The URL of the image.
  /// - Returns: False if the cache has no such image.
  /// - Throws: ``ConfigurationError`` if pinned images would exceed their limit, or the cache cannot be
  ///   written. Images that were pinned before stay pinned.
  public func pin(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    // The limits of a running program may be older than the settings.
    cache.follow(settings.currentSettings())
    return try forEachKey(of: url, cache.pin)
  }

  /// Unpins the image of a URL, for all credentials; it stays in the cache for now.
  ///
  /// - Parameter url: The URL of the image.
  /// - Returns: False if the cache has no such image.
  /// - Throws: ``ConfigurationError`` if the image is larger than the limit for unpinned images, or the cache
  ///   cannot be written.
  public func unpin(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    cache.follow(settings.currentSettings())
    return try forEachKey(of: url, cache.unpin)
  }

  /// Reads every image, removes damaged ones, and repairs differences between files and index.
  ///
  /// - Parameter progress: Receives the number of checked images and the approximate total.
  /// - Returns: The number of images, and the removed and repaired ones.
  /// - Throws: ``ConfigurationError`` if the cache cannot be read.
  public func verify(
    progress: (_ done: Int, _ count: Int) -> Void = { _, _ in }
  ) throws(ConfigurationError) -> CacheCheck {
    try convertingErrors { () throws(CacheError) in CacheCheck(try cache.verify(progress: progress)) }
  }

  /// Removes expired images and images over the limits, and more on request.
  ///
  /// It removes partial downloads first, then the least recently used originals, then thumbnails. Pinned
  /// images stay.
  ///
  /// - Parameters:
  ///   - size: The most bytes to keep; nil to apply only the limits.
  ///   - progress: Receives the number of removed images.
  /// - Returns: The number of removed images, and the freed bytes.
  /// - Throws: ``ConfigurationError`` if the cache cannot be written.
  public func trim(
    to size: ByteCount? = nil,
    progress: (_ removed: Int) -> Void = { _ in }
  ) throws(ConfigurationError) -> CacheTrim {
    try convertingErrors { () throws(CacheError) in CacheTrim(try cache.trim(to: size, progress: progress)) }
  }

  /// Removes the image of a URL and the responses that the service has stored for it, for all credentials.
  ///
  /// All programs that use the cache drop all images in memory, and do not keep those that they are loading. The
  /// other images stay on the disk.
  ///
  /// - Parameter url: The URL of the image.
  /// - Returns: False if the cache has neither.
  /// - Throws: ``ConfigurationError`` if the cache cannot be written.
  public func remove(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    try convertingErrors { () throws(CacheError) in try cache.removeEverywhere(url.key) }
  }

  /// Removes all images, including pinned ones, and all responses that the service has stored.
  ///
  /// All programs that use the cache also drop their images in memory, and do not keep those that they are loading.
  ///
  /// - Returns: The contents before the call; if the index was damaged, those after it.
  /// - Throws: ``ConfigurationError`` if the cache cannot be written.
  public func clear() throws(ConfigurationError) -> CacheSummary {
    try convertingErrors { () throws(CacheError) in
      // A damaged index cannot be read, but it can be cleared.
      let info = try? cache.info()
      try cache.clear()
      if let info { return CacheSummary(info) }
      return CacheSummary(try cache.info())
    }
  }

  /// Runs the body for each key of a URL; returns whether it has found an image.
  private func forEachKey(
    of url: ImageURL,
    _ body: (String) throws(CacheError) -> Bool
  ) throws(ConfigurationError) -> Bool {
    try convertingErrors { () throws(CacheError) in
      var isFound = false
      for key in try cache.keys(of: url.key) where try body(key) { isFound = true }
      return isFound
    }
  }

  /// Runs the body and converts its error for users.
  func convertingErrors<Result>(
    _ body: () throws(CacheError) -> Result
  ) throws(ConfigurationError) -> Result {
    do throws(CacheError) {
      return try body()
    } catch {
      throw ConfigurationError([error.message], isSystemFailure: true)
    }
  }
}
