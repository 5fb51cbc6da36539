import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  /// `feedimg cache verify`.
  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Read every image, and remove those that were damaged.",
      discussion: """
        Compares length and checksum of each file with what was stored, and brings files and index into accord. \
        Ends with 1 if something is left that is damaged or cannot be read.
        """
    )
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let progress = ProgressLine(verb: "checked")
      defer { progress.clear() }
      let check = try folders.cache().verify { done, count in
        progress.show(done, of: count)
        return true
      }
      progress.clear()
      Output.line(json ? check.json : CacheText.check(check))
      if !check.isInOrder { throw CommandFailure(.failure) }
    }
  }

  /// `feedimg cache trim`.
  struct Trim: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "trim",
      abstract: "Remove what exceeds the limits or is unused for too long, or more.",
      discussion: """
        With --to, what is kept of unfinished transfers goes first, then the least recently used originals, then \
        thumbnails, until all of it takes no more than that. Pinned images stay.
        """
    )
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("As much as may be left, such as `100 MB`.", valueName: "size")
    )
    var to: String?
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let size = try to.map { text throws(CommandFailure) in
        guard let size = ByteCount(text) else {
          throw CommandFailure(.usage, "--to: expected a size such as `100 MB`, found `\(text)`")
        }
        return size
      }
      let progress = ProgressLine(verb: "removed")
      defer { progress.clear() }
      let trim = try folders.cache().trim(to: size) { removed in
        progress.show(removed)
        return true
      }
      progress.clear()
      Output.line(json ? trim.json : CacheText.trim(trim, to: size))
    }
  }
}
