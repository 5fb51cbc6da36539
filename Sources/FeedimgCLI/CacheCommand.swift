import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg cache`: the images on disk.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Show and manage the cached images.",
    discussion: """
      The cache is in $XDG_CACHE_HOME/feedimg or ~/.cache/feedimg. Each image is a file that any program can open. \
      Several programs may use the cache at once. Originals, thumbnails and pinned images have separate limits; see \
      `feedimg settings list`.

      EXAMPLES
        feedimg cache info
        feedimg cache list --sort size --limit 10
        feedimg cache show https://x.example/a.jpg
        feedimg cache pin https://x.example/a.jpg
        feedimg cache trim --to 100MB
        feedimg cache export images.tar
      """,
    subcommands: [
      Info.self, List.self, Show.self, Pin.self, Unpin.self, Remove.self, Verify.self, Trim.self, Clear.self,
      Export.self, Import.self,
    ],
    defaultSubcommand: Info.self
  )

  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "info",
      abstract: "Print the size, the limits and the hit rate of the cache."
    )
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let cache = try folders.cache()
      let summary = try cache.summary()
      Output.line(json ? summary.json : CacheText.summary(summary))
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove the image of a URL, pinned or not."
    )
    @OptionGroup var image: CachedURL
    @OptionGroup var folders: CacheFolders

    func run() throws { try image.found(try folders.cache().remove(try image.address)) }
  }

  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear",
      abstract: "Remove all images, including pinned ones."
    )
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let removed = try folders.cache().clear()
      Output.line("removed \(CacheText.images(removed.count)), \(removed.size.rounded)")
    }
  }

  /// The URL of a cached image.
  struct CachedURL: ParsableArguments {
    @Argument(help: "The URL of the image.") var url: String

    /// The URL for messages, without user and password.
    var shown: String { ImageURL.withoutCredentials(url) }

    var address: ImageURL {
      get throws(CommandFailure) { try ImageURL(url, expected: "expected an absolute http or https URL") }
    }

    /// - Throws: ``CommandFailure`` with status 1 if the image is not in the cache.
    func found(_ isThere: Bool) throws(CommandFailure) {
      guard isThere else { throw CommandFailure(.failure, "`\(shown)` is not in the cache") }
    }
  }
}

extension CacheFolders {
  /// The cache, after a report of its warnings.
  func cache() throws(ConfigurationError) -> ImageCache {
    let cache = try ImageCache(configuration)
    Output.report(cache.warnings)
    return cache
  }
}
