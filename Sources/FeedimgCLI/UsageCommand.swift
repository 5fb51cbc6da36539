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

/// A usage report as text, in 80 columns.
struct UsageText {
  /// The longest bar, in columns.
  private static let barWidth = 27

  private let report: UsageReport
  private let maximum: Int

  init(_ report: UsageReport) {
    self.report = report
    maximum = report.usage.map(\.received.bytes).max() ?? 0
  }

  var lines: [String] {
    guard !report.months.isEmpty else {
      return ["no data received from \(report.days.lowerBound) to \(report.days.upperBound)"] + remarks
    }
    var lines: [String] = []
    for month in months {
      lines.append(Output.bold(month))
      lines += report.usage.filter { $0.day.monthText == month }.map(row)
      let sums = report.months.filter { $0.day.monthText == month }
      for (index, sum) in sums.enumerated() {
        lines.append(cells(index == 0 ? (isCut(month) ? "all month" : "total") : "", sum))
      }
      lines.append("")
    }
    // If a month is incomplete, the total covers only the days of the report.
    let days = report.days.upperBound.daysSince1970 - report.days.lowerBound.daysSince1970 + 1
    let name = months.contains(where: isCut) ? "\(days) day\(days == 1 ? "" : "s")" : "all"
    lines.append(Output.bold(cells(name, "", "", report.total)))
    return lines + remarks
  }

  private var months: [String] {
    report.months.map(\.day.monthText).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// Whether the report shows only some days of a month with data.
  private func isCut(_ month: String) -> Bool {
    let rows = UsageReport.Sum(report.usage.filter { $0.day.monthText == month })
    return rows != UsageReport.Sum(report.months.filter { $0.day.monthText == month })
  }

  private func row(_ usage: NetworkUsage) -> String {
    let bar = Output.coloured(bar(usage.received.bytes), colour(of: usage.metered))
    return "\(cells(usage.day.description, usage))  \(bar)"
  }

  private func cells(_ label: String, _ usage: NetworkUsage) -> String {
    cells(label, usage.network.rawValue, usage.metered.word, UsageReport.Sum(CollectionOfOne(usage)))
  }

  private func cells(_ day: String, _ network: String, _ price: String, _ sum: UsageReport.Sum) -> String {
    let text = [
      day.padded(to: 10), network.padded(to: 8), price.padded(to: 9),
      sum.received.rounded.padded(to: 8, leading: true), String(sum.transfers).padded(to: 6, leading: true),
    ].joined(separator: "  ")
    return "  " + text
  }

  private func colour(of metered: Metered) -> Output.Colour {
    switch metered {
    case .yes: .bad
    case .no: .good
    case .unknown: .warning
    }
  }

  /// A bar drawn in eighths of a column; even the smallest value is visible.
  private func bar(_ bytes: Int) -> String {
    guard bytes > 0 else { return "" }
    let eighths = max(1, Int((Double(bytes) / Double(maximum) * Double(Self.barWidth * 8)).rounded()))
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }

  /// The budget and warnings.
  private var remarks: [String] {
    var lines: [String] = []
    if let budget = report.budget {
      lines.append(
        "cellular budget: \(budget.left.rounded) of \(budget.limit) left until \(budget.days.upperBound), "
          + "\(budget.used.rounded) used"
      )
    }
    if report.unreadableCount > 0 {
      let (count, folder) = (report.unreadableCount, report.folder)
      lines.append("ignored \(count) unreadable entr\(count == 1 ? "y" : "ies") in `\(folder)`")
    }
    return lines
  }
}
