import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  /// `feedimg cache show`.
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract:
        "Print all that is known of one image: how fresh it is, by which rule, and what a load would do.",
      discussion: """
        A cached image is shown whatever this says. Where it may be out of date, showing it also asks its server \
        about it, if the network is there and the policy would fetch the image now. Each rule names its RFC; see \
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
          "; \($0.rounded) of an interrupted transfer is"
        }
        throw CommandFailure(.failure, "`\(image.shown)` is not in the cache\(begun ?? "")")
      }
      Output.line(json ? details.json : CacheShowText.text(details))
    }
  }
}
