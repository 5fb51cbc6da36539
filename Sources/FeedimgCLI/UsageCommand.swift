import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg usage`: what the network has brought.
struct UsageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage",
    abstract: "Show what was received by day and network, and what is left of the budget.",
    discussion: """
      Every transfer of this user's programs is counted, also failed ones: heads and bodies, without what TLS adds, \
      by the network at the time and whether it was metered. What comes from this machine itself does not count. \
      The counts are kept in $XDG_STATE_HOME/feedimg/usage/usage.sqlite, by default in ~/.local/state.

      EXAMPLES
        feedimg usage
        feedimg usage --days 7 --json | jq .total.bytes
        feedimg usage --days 365 --svg usage.svg
        feedimg settings set cellular-budget "2 GB"         what policies call budget left
        feedimg usage clear
      """,
    subcommands: [Show.self, Clear.self],
    defaultSubcommand: Show.self
  )

  /// `feedimg usage show`, which need not be said.
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Print the table and its bars (the default)."
    )

    @Option(parsing: .unconditional, help: ArgumentHelp("The last so many days.", valueName: "count"))
    var days = 30

    @Flag(help: "Print one JSON object.") var json = false

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Write a bar chart here instead, an SVG picture; - is standard output.",
        valueName: "file"
      ),
      completion: .file(extensions: ["svg"])
    )
    var svg: String?

    @OptionGroup var folders: StateFolders

    func validate() throws {
      guard days >= 1 else { throw ValidationError("--days: expected a number of at least 1, found \(days)") }
      if json, svg != nil { throw ValidationError("--json and --svg cannot be asked for together") }
    }

    func run() throws {
      let file = svg.map { OutputFile(path: $0, option: "--svg") }
      try file?.check()
      let usage = try folders.usage()
      let report = try usage.report(days: days)
      for warning in usage.warnings { Output.complain(warning) }
      if let file { return try file.write(Array(report.svg.utf8)) }
      if json { return Output.line(report.json) }
      for line in UsageText(report).lines { Output.line(line) }
    }
  }

  /// `feedimg usage clear`.
  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear",
      abstract: "Forget all that was counted."
    )
    @OptionGroup var folders: StateFolders

    func run() throws { try folders.usage().clear() }
  }

  /// Where the counts are, and the setting that limits them.
  struct StateFolders: ParsableArguments {
    @OptionGroup var stateFolder: StateFolderOption
    @OptionGroup var configurationFolder: ConfigurationFolderOption

    func usage() throws(ConfigurationError) -> Usage {
      var configuration = configurationFolder.configuration
      configuration.stateFolder = stateFolder.stateFolder
      return try Usage(configuration)
    }
  }
}
