public import ArgumentParser
import Feedimg
public import FeedimgAdmin

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
      """,
    subcommands: [
      Info.self, List.self, Show.self, Pin.self, Unpin.self, Remove.self, Verify.self, Trim.self, Clear.self,
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
      abstract: "Remove the image of a URL, pinned or not, and the responses of /v1/fetch for it."
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
      get throws(CommandError) { try ImageURL(url, expected: "expected an absolute http or https URL") }
    }

    /// - Throws: ``CommandError`` with status 1 if the image is not in the cache.
    func found(_ isThere: Bool) throws(CommandError) {
      guard isThere else { throw CommandError(.failure, "`\(shown)` is not in the cache") }
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

extension CacheCommand {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the cached images, the most recently used first."
    )
    @Option(
      "used|stored|size|url",
      "The order: most recently used, most recently stored, largest, or by URL."
    )
    var sort = CachedImage.Order.used
    @Flag(help: "Reverse the order.") var reverse = false
    @Option("n", "The most images to print.") var limit: Int?
    @Option(
      "originals|thumbnails|pinned",
      "Print only originals, thumbnails or pinned images; may be repeated."
    )
    var only: [CachedImage.Kind] = []
    @Flag(help: "Print one line of JSON for each image.") var json = false
    @OptionGroup var folders: CacheFolders

    func validate() throws {
      if let limit, limit < 0 {
        throw ValidationError("--limit: expected a number of at least 0, found `\(limit)`")
      }
    }

    func run() throws {
      try folders.cache().forEachImage(
        by: sort,
        isReversed: reverse,
        limit: limit ?? .max,
        kinds: Set(only.isEmpty ? CachedImage.Kind.allCases : only)
      ) { image in
        Output.line(json ? image.json : CacheText.line(image))
        return true
      }
    }
  }
}

extension CachedImage.Order: ExpressibleByArgument {}

extension CachedImage.Kind: ExpressibleByArgument {}

extension CacheCommand {
  struct Pin: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pin",
      abstract: "Protect the image of a URL from eviction and expiry.",
      discussion: """
        The image must be in the cache; run `feedimg load` first. Pinned images have their own limit, the setting \
        cache-pinned-limit. A newer version of the image inherits the pin. `remove` and `clear` remove pinned images \
        too, and `verify` removes damaged ones.
        """
    )
    @OptionGroup var image: CachedURL
    @OptionGroup var folders: CacheFolders

    func run() throws { try image.found(try folders.cache().pin(try image.address)) }
  }

  struct Unpin: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unpin",
      abstract: "Unpin the image of a URL, so that it may be evicted again."
    )
    @OptionGroup var image: CachedURL
    @OptionGroup var folders: CacheFolders

    func run() throws { try image.found(try folders.cache().unpin(try image.address)) }
  }
}

extension CacheCommand {
  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Check every image, and remove damaged ones.",
      discussion: """
        Compares the length and checksum of each file with the index, and repairs differences between files and \
        index. Ends with 1 if a damaged or unreadable image remains.
        """
    )
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let progress = ProgressLine("checked")
      let check = try folders.cache().verify(progress: progress.show)
      Output.line(json ? check.json : CacheText.check(check))
      if !check.isIntact { throw CommandError(.failure) }
    }
  }

  struct Trim: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "trim",
      abstract: "Remove expired images and images over the limits, or more.",
      discussion: """
        With --to, the command removes partial downloads first, then the least recently used originals, then \
        thumbnails, until the cache is small enough. Pinned images stay.
        """
    )
    @Option("size", "The most that the cache may keep, such as `100 MB`.") var to: String?
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let size = try to.map { text throws(CommandError) in
        guard let size = ByteCount(text) else {
          throw CommandError(.usage, "--to: expected a size such as `100 MB`, found `\(text)`")
        }
        return size
      }
      let progress = ProgressLine("removed")
      let trim = try folders.cache().trim(to: size) { progress.show($0, of: nil) }
      Output.line(json ? trim.json : CacheText.trim(trim, to: size))
    }
  }
}
