import ArgumentParser
import Feedimg
import FeedimgFeeds

/// `feedimg items`: prints the pictures of a feed as items.
struct ItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "items",
    abstract: "Print the pictures of a feed or page as items, one per line.",
    discussion: """
      Reads responses of the Mastodon, Pleroma, Pixelfed, Bluesky, Lemmy and Reddit APIs, JSON Feed, RSS, Atom and HTML, \
      up to 64 MiB, or 16 MiB for JSON. `resolve`, `load`, `prefetch` and `serve --items` read the same documents. It \
      downloads nothing.

      EXAMPLES
        feedimg items feed.xml
        feedimg items --from html --base https://x.example/ page.html
        curl -s https://x.example/rss.xml | feedimg items | feedimg prefetch -
        feedimg items timeline.json | jq -r .thumbnailImage

      An invalid entry is skipped, with a warning that names it. A document without pictures is not an error.

      Ends with 0, with 1 if entries were skipped, and with 2 if the document cannot be read or has no valid entry.
      """
  )

  @Argument(
    help: ArgumentHelp("The document; - or nothing is standard input.", valueName: "file"),
    completion: .file()
  )
  var file: String?

  @OptionGroup var feed: FeedOptions

  func run() throws {
    let sources = ItemSources(paths: [file ?? "-"], reader: try feed.reader())
    let status = try sources.forEachBatch { items, _ throws(CommandError) in
      if !items.isEmpty { Output.document(items.map { $0.json + "\n" }.joined()) }
    }
    if status != .success { throw CommandError(status) }
  }
}
