import ArgumentParser
import Feedimg

/// `feedimg cache`: what is kept on disk.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Show and clear the images that are kept.",
    discussion: """
      Images are kept in $XDG_CACHE_HOME/feedimg or ~/.cache/feedimg, each in a file that any program can open. \
      Several programs may use the cache at once. Originals and thumbnails have limits of their own; see \
      `feedimg settings list`.

      EXAMPLES
        feedimg cache info
        feedimg cache list --json | jq -r .path
        feedimg cache remove https://x.example/a.jpg
        feedimg cache clear
      """,
    subcommands: [Info.self, List.self, Remove.self, Clear.self],
    defaultSubcommand: Info.self
  )

  /// `feedimg cache info`.
  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "info",
      abstract: "Print how much is kept, and how much may be."
    )
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let cache = try folders.cache()
      let summary = try cache.summary()
      Output.line(json ? summary.json : CacheText.summary(summary))
    }
  }

  /// `feedimg cache list`.
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the images that are kept, the last used first."
    )
    @Flag(help: "Print one JSON object for each image, a line each.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      for image in try folders.cache().images() { Output.line(json ? image.json : CacheText.line(image)) }
    }
  }

  /// `feedimg cache remove`.
  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove the image of a URL."
    )
    @Argument(help: "The URL, as the item spells it.") var url: String
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let address: ImageURL
      do throws(ImageURLError) {
        address = try ImageURL(url)
      } catch {
        throw CommandFailure(.usage, "expected an absolute http or https URL, but `\(url)` \(error)")
      }
      guard try folders.cache().remove(address) else {
        throw CommandFailure(.failure, "`\(url)` is not in the cache")
      }
    }
  }

  /// `feedimg cache clear`.
  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear",
      abstract: "Remove all images that are kept."
    )
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let removed = try folders.cache().clear()
      Output.line("removed \(removed.count) image\(removed.count == 1 ? "" : "s"), \(removed.size.rounded)")
    }
  }

  /// Where the cache is, and the settings that limit it.
  struct CacheFolders: ParsableArguments {
    @OptionGroup var cacheFolder: CacheFolderOption
    @OptionGroup var configurationFolder: ConfigurationFolderOption

    func cache() throws(ConfigurationError) -> ImageCache {
      var configuration = ImageLoader.Configuration()
      configuration.cacheFolder = cacheFolder.cacheFolder
      configuration.configurationFolder = configurationFolder.configurationFolder
      let cache = try ImageCache(configuration)
      for warning in cache.warnings { Output.complain(warning) }
      return cache
    }
  }
}
