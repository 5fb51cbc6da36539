import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Write all images to a tar archive, for the cache of another machine.",
      discussion: """
        The file is replaced only after the archive is complete. The archive omits cookies, and images that were \
        fetched with credentials. It contains complete URLs, including any secrets in them.

        EXAMPLES
          feedimg cache export images.tar
          feedimg cache export - | ssh kiosk feedimg cache import -
        """
    )
    @Argument(help: "The archive; - is standard output.", completion: .file(extensions: ["tar"])) var file:
      String
    @Flag(help: "Print one JSON object.") var json = false
    @Flag(help: "Write the archive to standard output even if that is a terminal.") var force = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let isStandard = file == "-"
      if isStandard, json {
        throw CommandFailure(.usage, "--json: cannot be used when the archive goes to standard output")
      }
      let output = OutputFile(path: file, option: "export")
      try output.refuseTerminal(unless: force)
      try output.check()
      let cache = try folders.cache()
      let progress = ProgressLine("exported")
      let exported = try cache.exportImages(to: isStandard ? nil : file, progress: progress.show)
      for url in exported.damaged { Output.report("omitted because it is damaged: \(url)") }
      if json { return Output.line(exported.json) }
      if !isStandard { Output.line(CacheText.exported(exported)) }
    }
  }

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Store the images of an archive from `feedimg cache export`.",
      discussion: """
        Each image is verified and counts as used now. An image of which the cache has the same or a newer version \
        stays as it is. Import evicts no image: it omits the least recently used images of the archive if they do \
        not fit into the limits.

        An invalid or truncated file changes nothing. From a pipe, the images before the error are stored. Import \
        only archives that you trust, because an archive says itself which URL an image belongs to.
        """
    )
    @Argument(help: "The archive; - is standard input.", completion: .file(extensions: ["tar"])) var file:
      String
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let cache = try folders.cache()
      let progress = ProgressLine("imported")
      let imported = try cache.importImages(from: file == "-" ? nil : file, progress: progress.show)
      Output.line(json ? imported.json : CacheText.imported(imported))
    }
  }
}
