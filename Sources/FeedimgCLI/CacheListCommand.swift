public import ArgumentParser
import Feedimg
public import FeedimgAdmin

extension CacheCommand {
  /// `feedimg cache list`.
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the images that are kept, the last used first."
    )
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "What comes first: the last used, the last stored, the largest, or the first URL.",
        valueName: "used|stored|size|url"
      )
    )
    var sort = CachedImage.Order.used
    @Flag(help: "The other way round.") var reverse = false
    @Option(parsing: .unconditional, help: ArgumentHelp("No more than so many.", valueName: "n"))
    var limit: Int?
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp(
        "Only originals, thumbnails or pinned images; may be given several times.",
        valueName: "originals|thumbnails|pinned"
      )
    )
    var only: [CachedImage.Kind] = []
    @Flag(help: "Print one JSON object for each image, a line each.") var json = false
    @OptionGroup var folders: CacheFolders

    func validate() throws {
      if let limit, limit < 0 {
        throw ValidationError("--limit: expected a number from 0 on, found `\(limit)`")
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
