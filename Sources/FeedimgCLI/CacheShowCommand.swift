import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract:
        "Print the details of one image: its freshness, the rule for it, and the effect of the next load.",
      discussion: """
        feedimg shows every cached image, fresh or stale. If the image is stale, showing it also revalidates it with \
        its server, provided that the policy would fetch it now. Each rule names its RFC; see \
        Documentation/freshness.md.

        EXAMPLES
          feedimg cache show https://x.example/a.jpg
          feedimg cache show https://x.example/a.jpg --json | jq .freshness

        Exit status: 1 if the image is not in the cache.
        """
    )
    @OptionGroup var image: CachedURL
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let (address, cache) = (try image.address, try folders.cache())
      guard let details = cache.details(of: address) else {
        let begun = cache.partialDownload(of: address).map {
          "; \($0.rounded) of an interrupted download is"
        }
        throw CommandFailure(.failure, "`\(image.shown)` is not in the cache\(begun ?? "")")
      }
      Output.line(json ? details.json : CacheShowText.text(details))
    }
  }
}
