import ArgumentParser

/// The entry: parses, runs, and turns whatever happens into an exit status.
@main
enum Main {
  static func main() async {
    Output.occupyStandardDescriptors()
    do {
      var command = try FeedimgCommand.parseAsRoot()
      if var waiting = command as? any AsyncParsableCommand {
        try await waiting.run()
      } else {
        try command.run()
      }
    } catch {
      Output.exit(ExitStatus(reporting: error))
    }
    Output.exit(.success)
  }
}
