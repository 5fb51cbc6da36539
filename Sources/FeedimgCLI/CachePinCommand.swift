import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  /// `feedimg cache pin`.
  struct Pin: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pin",
      abstract: "Keep the image of a URL whatever else is stored, and however long it is not used.",
      discussion: """
        The image must be in the cache; `feedimg load` fetches it. Pinned images count against the setting \
        cache-pinned-limit alone, and no more can be pinned than that. A newer image of the URL takes over the pin. \
        What is damaged, removed or cleared goes all the same.
        """
    )
    @OptionGroup var image: CachedURL
    @OptionGroup var folders: CacheFolders

    func run() throws { try image.found(try folders.cache().pin(try image.address)) }
  }

  /// `feedimg cache unpin`.
  struct Unpin: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unpin",
      abstract: "Let the image of a URL go again when others need its place."
    )
    @OptionGroup var image: CachedURL
    @OptionGroup var folders: CacheFolders

    func run() throws { try image.found(try folders.cache().unpin(try image.address)) }
  }
}
