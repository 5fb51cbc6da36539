import ArgumentParser
import Feedimg

/// Finds the first argument that should name a command but does not.
enum UnknownCommand {
  /// The message for the first such argument; nil if all commands exist.
  static func message(in arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = FeedimgCommand.self
    for argument in arguments where argument != "help" {
      let commands = command.configuration.subcommands
      guard !argument.hasPrefix("-"), !commands.isEmpty else { return nil }
      // Nested commands take their names from their types, except for default commands.
      let names = commands.map { $0.configuration.commandName ?? "\($0)".lowercased() }
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
