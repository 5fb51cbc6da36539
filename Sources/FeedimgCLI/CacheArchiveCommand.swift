import ArgumentParser
import Feedimg
import FeedimgAdmin

extension CacheCommand {
  /// `feedimg cache export`.
  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Write all images into a tar archive, for the cache of another machine.",
      discussion: """
        The file is whole, or as it was before. Cookies are left out, and images that were fetched with credentials; \
        URLs stay as they are, with whatever secrets they hold.

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
      if isStandard, json { throw CommandFailure(.usage, "--json: standard output is taken by the archive") }
      let output = OutputFile(path: file, option: "export")
      try output.refuseTerminal(unless: force)
      try output.check()
      let cache = try folders.cache()
      let progress = ProgressLine(verb: "exported")
      defer { progress.clear() }
      let exported = try cache.exportImages(to: isStandard ? nil : file) { done, count in
        progress.show(done, of: count)
        return true
      }
      progress.clear()
      for url in exported.damaged { Output.complain("left out, as it is damaged: \(url)") }
      if json { return Output.line(exported.json) }
      if !isStandard { Output.line(CacheText.exported(exported)) }
    }
  }

  /// `feedimg cache import`.
  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Take in the images of an archive that `feedimg cache export` has written.",
      discussion: """
        Each image is verified and counts as used now; those that are stored as new or newer stay. Nothing gives way \
        to them: what does not fit into the limits is left out, the least used first. An archive that is torn, \
        damaged or something else changes nothing; from a pipe, what came before the fault has been stored. Import \
        only what you trust: it says itself which URL an image is of.
        """
    )
    @Argument(help: "The archive; - is standard input.", completion: .file(extensions: ["tar"])) var file:
      String
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var folders: CacheFolders

    func run() throws {
      let cache = try folders.cache()
      let progress = ProgressLine(verb: "imported")
      defer { progress.clear() }
      let imported = try cache.importImages(from: file == "-" ? nil : file) { done, count in
        progress.show(done, of: count)
        return true
      }
      progress.clear()
      Output.line(json ? imported.json : CacheText.imported(imported))
    }
  }
}
