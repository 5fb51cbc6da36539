public import Feedimg
import FeedimgCache
public import FeedimgModel
import FeedimgSettings
import FeedimgSystem

/// The images that are kept on disk, as programs and people look after them.
public struct ImageCache: Sendable {
  let cache: DiskCache
  /// Where the images are kept.
  public let folder: String
  /// As loads of this configuration send it, for what they would make of an image.
  let userAgent: String
  private let settings: SettingsStore

  /// The cache in the folder that a loader of this configuration would use; nothing is opened or made yet.
  ///
  /// - Parameter configuration: Its folders count, and the limits in the settings.
  /// - Throws: ``ConfigurationError`` where no folder is known.
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

  /// The cache that a loader with these parts uses.
  package init(_ configuration: ImageLoader.Configuration, sharing parts: LoaderParts) {
    userAgent = configuration.userAgent
    (settings, cache, folder) = (parts.settings, parts.store, parts.cacheFolder)
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
    var images: [CachedImage] = []
    try forEachImage {
      images.append($0)
      return true
    }
    return images
  }

  /// Tells of images one by one, however many there are.
  ///
  /// - Parameters:
  ///   - order: What comes first.
  ///   - isReversed: Whether that comes last instead.
  ///   - limit: No more than so many.
  ///   - kinds: No others than these.
  ///   - body: Returns whether to go on.
  /// - Throws: ``ConfigurationError`` where the cache cannot be read.
  public func forEachImage(
    by order: CachedImage.Order = .used,
    isReversed: Bool = false,
    limit: Int = .max,
    kinds: Set<CachedImage.Kind> = Set(CachedImage.Kind.allCases),
    _ body: (CachedImage) -> Bool
  ) throws(ConfigurationError) {
    try naming { () throws(CacheError) in
      let budgets = Set(kinds.map(\.budget))
      try cache.list(by: order.cacheOrder, isReversed: isReversed, limit: limit, budgets: budgets) {
        body(CachedImage($0))
      }
    }
  }

  /// Pins the image of a URL: it stays whatever else is stored, and however long it is not used.
  ///
  /// Pinned images have a limit of their own beside those of originals and thumbnails. A newer image of the URL takes
  /// over the pin.
  ///
  /// - Parameter url: As the item spells it.
  /// - Returns: Whether there was one.
  /// - Throws: ``ConfigurationError`` where pinned images would exceed their limit, or the cache cannot be written.
  public func pin(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    try naming { () throws(CacheError) in try cache.pin(url.key) }
  }

  /// Takes the pin from the image of a URL, which stays for now.
  ///
  /// - Parameter url: As the item spells it.
  /// - Returns: Whether there was one.
  /// - Throws: ``ConfigurationError`` where its size exceeds what it may take unpinned, or the cache cannot be written.
  public func unpin(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    try naming { () throws(CacheError) in try cache.unpin(url.key) }
  }

  /// Reads every image, removes those that were damaged, and brings files and index into accord.
  ///
  /// - Parameter progress: Is told how many of about how many have been read; returns whether to go on.
  /// - Returns: What was found.
  /// - Throws: ``ConfigurationError`` where the cache cannot be read.
  public func verify(
    progress: (_ done: Int, _ count: Int) -> Bool = { _, _ in true }
  ) throws(ConfigurationError) -> CacheCheck {
    try naming { () throws(CacheError) in CacheCheck(try cache.verify(progress: progress)) }
  }

  /// Removes what exceeds the limits and what has not been used for too long, and more on request.
  ///
  /// - Parameters:
  ///   - size: The most that all images may take afterwards: first originals go, the least recently used before
  ///     others, then thumbnails, never what is pinned. Nil for no more than the limits ask for.
  ///   - progress: Is told how many have gone; returns whether to go on.
  /// - Returns: What was removed.
  /// - Throws: ``ConfigurationError`` where the cache cannot be written.
  public func trim(
    to size: ByteCount? = nil,
    progress: (_ removed: Int) -> Bool = { _ in true }
  ) throws(ConfigurationError) -> CacheTrim {
    try naming { () throws(CacheError) in CacheTrim(try cache.trim(to: size, progress: progress)) }
  }

  /// Removes the image of a URL.
  ///
  /// - Parameter url: As the item spells it.
  /// - Returns: Whether there was one.
  /// - Throws: ``ConfigurationError`` where the cache cannot be written.
  public func remove(_ url: ImageURL) throws(ConfigurationError) -> Bool {
    try naming { () throws(CacheError) in try cache.remove(url.key) }
  }

  /// Removes all images, pinned ones too, and all responses that the service stores for `GET /v1/fetch`.
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

  /// Runs the body, whose failures are said to users.
  func naming<Answer>(_ body: () throws(CacheError) -> Answer) throws(ConfigurationError) -> Answer {
    do throws(CacheError) {
      return try body()
    } catch {
      throw ConfigurationError([error.message], isSystemFailure: error.code != .archive)
    }
  }
}

extension ImageCache {
  /// Writes all images into a tar archive, the last used first; the file is whole or as it was before.
  ///
  /// Cookies are left out, and images that were fetched with credentials.
  ///
  /// - Parameters:
  ///   - path: A file, or nil for standard output.
  ///   - progress: Is told how many of about how many have been written; returns whether to go on.
  /// - Returns: What was written.
  /// - Throws: ``ConfigurationError`` where the cache cannot be read or the archive not be written.
  public func exportImages(
    to path: String?,
    progress: (_ done: Int, _ count: Int) -> Bool = { _, _ in true }
  ) throws(ConfigurationError) -> ExportedImages {
    try naming { () throws(CacheError) in ExportedImages(try cache.export(to: path, progress: progress)) }
  }

  /// Stores the images of an archive from ``exportImages(to:progress:)``, as if they had just been used.
  ///
  /// Nothing gives way to them. An archive in a file that is torn, damaged or not ours changes nothing; from a pipe,
  /// what came before the fault has been stored.
  ///
  /// - Parameters:
  ///   - path: A file, or nil for standard input.
  ///   - progress: Is told how many images of how many, if that is known, have been read; returns whether to go on.
  /// - Returns: What was stored.
  /// - Throws: ``ConfigurationError`` where the archive cannot be used, or the cache not be written.
  public func importImages(
    from path: String?,
    progress: (_ done: Int, _ count: Int?) -> Bool = { _, _ in true }
  ) throws(ConfigurationError) -> ImportedImages {
    try naming { () throws(CacheError) in
      ImportedImages(try cache.importEntries(from: path, progress: progress))
    }
  }
}
