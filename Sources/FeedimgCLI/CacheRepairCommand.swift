import ArgumentParser
import Feedimg
import FeedimgAdmin

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
      if !check.isIntact { throw CommandFailure(.failure) }
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
      let size = try to.map { text throws(CommandFailure) in
        guard let size = ByteCount(text) else {
          throw CommandFailure(.usage, "--to: expected a size such as `100 MB`, found `\(text)`")
        }
        return size
      }
      let progress = ProgressLine("removed")
      let trim = try folders.cache().trim(to: size) { progress.show($0, of: nil) }
      Output.line(json ? trim.json : CacheText.trim(trim, to: size))
    }
  }
}
