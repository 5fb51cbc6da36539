import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg usage`: the received data by day and network.
struct UsageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage",
    abstract: "Show the received data by day and network, and the rest of the budget.",
    discussion: """
      feedimg counts every transfer of this user's programs, including failed ones. It counts the bytes of heads and \
      bodies, without the overhead of TLS. It does not count transfers from this machine itself. The counts are in \
      $XDG_STATE_HOME/feedimg/usage/usage.sqlite, by default in ~/.local/state.

      EXAMPLES
        feedimg usage
        feedimg usage --days 7 --json | jq .total.bytes
        feedimg usage --days 365 --svg usage.svg
        feedimg settings set cellular-budget "2 GB"         set the fact `budget left`
        feedimg usage clear
      """,
    subcommands: [Show.self, Clear.self],
    defaultSubcommand: Show.self
  )

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Print a table with bars (the default)."
    )

    @Option("count", "The number of days up to today.") var days = 30

    @Flag(help: "Print one JSON object.") var json = false

    @Option(
      "file",
      "Write an SVG bar chart to this file instead; - is standard output.",
      completion: .file(extensions: ["svg"])
    )
    var svg: String?

    @OptionGroup var folders: StateFolders

    func validate() throws {
      guard days >= 1 else { throw ValidationError("--days: expected a number of at least 1, found \(days)") }
      if json, svg != nil { throw ValidationError("--json and --svg cannot be used together") }
    }

    func run() throws {
      let file = svg.map { OutputFile(path: $0, option: "--svg") }
      try file?.check()
      let usage = try folders.usage()
      let report = try usage.report(days: days)
      Output.report(usage.warnings)
      if let file { return try file.write(Array(report.svg.utf8)) }
      if json { return Output.line(report.json) }
      for line in UsageText(report).lines { Output.line(line) }
    }
  }

  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "clear", abstract: "Remove all counts.")
    @OptionGroup var folders: StateFolders

    func run() throws { try folders.usage().clear() }
  }

  /// The folders of the data usage and of the settings, which have the budget.
  struct StateFolders: ParsableArguments {
    @Option(.state) var stateFolder: String?
    @Option(.configuration) var configurationFolder: String?

    func usage() throws(ConfigurationError) -> Usage {
      var configuration = ImageLoader.Configuration(configurationFolder: configurationFolder)
      configuration.stateFolder = stateFolder
      return try Usage(configuration)
    }
  }
}
