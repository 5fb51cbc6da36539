import ArgumentParser
import Feedimg

/// `feedimg settings`: shows and changes the settings.
struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show and change the settings.",
    discussion: """
      The settings are in settings.json, in $XDG_CONFIG_HOME/feedimg or ~/.config/feedimg. Running programs notice a \
      change at once. feedimg keeps unknown members of the file.

      EXAMPLES
        feedimg settings list
        feedimg settings set always-load-originals-on-cellular yes
        feedimg settings set cache-originals-limit "2 GiB"
        feedimg settings unset cache-originals-limit
      """,
    subcommands: [Get.self, Set.self, Unset.self, List.self, Path.self, Watch.self],
    defaultSubcommand: List.self
  )

  /// The name of a setting.
  struct NameArgument: ParsableArguments {
    @Argument(
      help: "The setting; `feedimg settings list` shows all names.",
      completion: .list(Settings.names)
    )
    var name: String
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get",
      abstract: "Print the current value of a setting."
    )
    @OptionGroup var name: NameArgument
    @OptionGroup var folder: ConfigurationFolderOption

    func run() throws { try folder.use { Output.line(try $0.value(of: name.name)) } }
  }

  struct Set: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set",
      abstract: "Change a setting.",
      usage: "feedimg settings set <name> <value> [--config-dir <dir>]"
    )
    @OptionGroup var name: NameArgument
    @Argument(
      parsing: .allUnrecognized,
      help: ArgumentHelp("The value, such as yes, no, `512 MiB` or 7.", valueName: "value")
    )
    var values: [String]
    @OptionGroup var folder: ConfigurationFolderOption

    func validate() throws {
      guard values.count > 1 else { return }
      let found = values.map { "`\($0)`" }.joined(separator: " and ")
      throw ValidationError("expected one value, found \(found); quote a value with spaces")
    }

    func run() throws { try folder.use { try $0.set(name.name, to: values[0]) } }
  }

  struct Unset: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unset",
      abstract: "Reset a setting to its default."
    )
    @OptionGroup var name: NameArgument
    @OptionGroup var folder: ConfigurationFolderOption

    func run() throws { try folder.use { try $0.unset(name.name) } }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print all settings; * marks those that are set."
    )
    @Flag(help: "Print one JSON object with a member for each setting.") var json = false
    @OptionGroup var folder: ConfigurationFolderOption

    func run() throws { try folder.use { Output.line(json ? $0.json : Self.table($0.entries())) } }

    private static func table(_ entries: [Settings.Entry]) -> String {
      let rows = entries.map { entry in
        [(entry.isSet ? "* " : "  ") + entry.name, Output.bold(entry.value), Output.dim(entry.explanation)]
      }
      return Columns(rows).lines.joined(separator: "\n")
    }
  }

  struct Path: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "path",
      abstract: "Print the path of settings.json."
    )
    @OptionGroup var folder: ConfigurationFolderOption

    func run() throws { Output.line(try folder.settings().path) }
  }

  struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "watch",
      abstract: "Print the settings as one line of JSON, now and after each change, until interrupted."
    )
    @OptionGroup var folder: ConfigurationFolderOption

    func run() async throws {
      for await json in try folder.settings().changes() { Output.line(json) }
    }
  }
}

extension ConfigurationFolderOption {
  fileprivate func settings() throws(ConfigurationError) -> Settings { try Settings(configuration) }

  /// Runs the body, and then prints warnings about invalid settings.
  fileprivate func use(_ body: (Settings) throws -> Void) throws {
    let settings = try settings()
    try body(settings)
    Output.report(settings.warnings)
  }
}
