import ArgumentParser
import Feedimg

/// The entry point: parses the arguments, runs the command, and exits with its status.
@main
enum Main {
  static func main() async {
    Output.occupyStandardDescriptors()
    ProcessEnvironment.reuseMemory()
    do {
      var command = try parsed(ProcessEnvironment.arguments())
      if var waiting = command as? any AsyncParsableCommand {
        try CommandError.refuseTasks()
        try await waiting.run()
      } else {
        try command.run()
      }
    } catch {
      Output.exit(ExitStatus(reporting: error))
    }
    Output.exit(.success)
  }

  /// - Throws: ``CommandError`` with a suggestion for a command that does not exist, or the parser's error.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    let command = Result { try FeedimgCommand.parseAsRoot(arguments) }
    // For `help` with an unknown command, the parser prints the general help.
    if (try? command.get()) == nil || arguments.first == "help",
      let message = unknownCommand(in: arguments)
    {
      throw CommandError(.usage, message)
    }
    return try command.get()
  }

  /// The message for the first argument that should name a command but does not; nil if there is none.
  private static func unknownCommand(in arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = FeedimgCommand.self
    for argument in arguments where argument != "help" {
      let commands = command.configuration.subcommands
      guard !argument.hasPrefix("-"), !commands.isEmpty else { return nil }
      let names = commands.compactMap { $0.configuration.commandName }
      guard let index = names.firstIndex(of: argument) else {
        let nearest = Spelling.nearest(to: argument, among: names)
        let advice =
          nearest.map { "did you mean `\($0)`?" } ?? "expected \(names.joined(separator: ", "))"
        return "unknown command `\(argument)`; \(advice)"
      }
      command = commands[index]
    }
    return nil
  }
}
