import ArgumentParser
import Feedimg
import FeedimgFeeds

/// The form of a document with items.
struct FeedOptions: ParsableArguments {
  @Option(
    "format",
    "The format of files: \(FeedFormat.names.joined(separator: ", ")); auto reads items, or detects a feed.",
    completion: .list(FeedFormat.names)
  )
  var from = "auto"

  @Option("url", "The address of the feed or page, for its relative URLs.") var base: String?

  @Flag(help: "End with 2 at an invalid item, instead of skipping it.")
  var strict = false

  /// - Throws: ``CommandFailure`` with status 2 for an unknown format or an invalid URL.
  func reader() throws(CommandFailure) -> FeedReader {
    let address = try base.map { text throws(CommandFailure) in
      try ImageURL(text, expected: "--base: expected an http or https URL")
    }
    do throws(FeedError) {
      return FeedReader(format: try FeedFormat.named(from), base: address, isStrict: strict)
    } catch {
      throw CommandFailure(.usage, "--from: \(error)")
    }
  }
}
