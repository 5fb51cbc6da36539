import ArgumentParser
import Feedimg
import FeedimgAdmin

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
