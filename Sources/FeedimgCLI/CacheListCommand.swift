public import ArgumentParser
import Feedimg
public import FeedimgAdmin

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
