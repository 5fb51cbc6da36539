import FeedimgJSON
import FeedimgModel
import FeedimgSQLite
import FeedimgUsage
import Glibc
import Testing

/// `feedimg usage` as a user runs it.
@Suite struct UsageVerbTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  static let ledgers = ".local/state/feedimg/usage"

  /// The day this long ago, and its month.
  static func day(ago days: Int) -> (day: String, month: String) {
    var moment = time(nil) - days * 86_400
    var parts = tm()
    localtime_r(&moment, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let month = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))"
    return ("\(month)-\(two(parts.tm_mday))", month)
  }

  /// Records counts of a day, each with its network, metering, bytes and transfers.
  func count(_ counts: [(NetworkKind, Metered, Int, Int)], ago days: Int = 0) throws {
    let ledger = UsageLedger(folder: folder.path(Self.ledgers)) { Double(time(nil) - days * 86_400) }
    for (network, metered, bytes, transfers) in counts {
      ledger.add(ByteCount(bytes), transfers: transfers, network: network, metered: metered)
    }
    try #require(ledger.flush() && ledger.takeWarnings().isEmpty)
  }

  @Test func `a table and its bars fit into 80 columns`() throws {
    try count([(.cellular, .yes, 1_500_000, 20), (.wifi, .no, 300_000_000, 1234), (.other, .unknown, 1, 1)])
    let run = try CommandRun(["usage"], in: folder)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    let lines = run.output.split(separator: "\n")
    let (day, month) = Self.day(ago: 0)
    #expect(
      lines.map(String.init) == [
        month,
        "  \(day)  wifi      unmetered    300 MB    1234  \(String(repeating: "█", count: 27))",
        "  \(day)  cellular  metered      1.5 MB      20  ▏",
        "  \(day)  other     unknown         1 B       1  ▏",
        "  total       wifi      unmetered    300 MB    1234",
        "              cellular  metered      1.5 MB      20",
        "              other     unknown         1 B       1",
        "  all                                302 MB    1255",
      ]
    )
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(run.output)")
    #expect(!run.output.contains("\u{1B}"), "no colour in a file")
  }

  @Test func `days outside the requested range are omitted, and unknown values are reported`() throws {
    try count([(.wifi, .no, 5, 1)])
    try count([(.wifi, .no, 70, 1)], ago: 40)
    try SQLiteConnection(path: folder.path("\(Self.ledgers)/usage.sqlite"), access: .write)
      .execute("INSERT INTO usage VALUES ('\(Self.day(ago: 0).day)', 'satellite', 'metered', 9, 1)")
    let json = try CommandRun(["usage", "--json"], in: folder)
    #expect(json.status == 0, "\(json.errors)")
    #expect(try json.objects.first?["total"] == ["bytes": 5, "transfers": 1])
    #expect(try json.objects.first?["foreignLines"] == 1)
    #expect(try json.objects.first?["budget"] == .null)
    let more = try CommandRun(["usage", "--json", "--days", "50"], in: folder)
    #expect(try more.objects.first?["total"] == ["bytes": 75, "transfers": 2])
    let text = try CommandRun(["usage"], in: folder)
    #expect(text.output.contains("ignored 1 unreadable entry in `\(folder.path(Self.ledgers))`"))
  }

  @Test func `a day that already began in another time zone is reported, and no later one`() throws {
    for (days, bytes) in [(0, 1), (-1, 10), (-2, 100), (-4, 1000)] {
      try count([(.wifi, .no, bytes, 1)], ago: days)
    }
    let json = try #require(try CommandRun(["usage", "--json"], in: folder).objects.first)
    #expect(json["total"] == ["bytes": 111, "transfers": 3])
    #expect(json["to"] == .string(Self.day(ago: -2).day) && json["from"] == .string(Self.day(ago: 29).day))
  }

  @Test func `a month is reported whole, even if few of its days are requested`() throws {
    // The second day of a month, so long ago that the chart shows months.
    let ago = try #require((100...140).first { Self.day(ago: $0).day.hasSuffix("-02") })
    let month = Self.day(ago: ago).month
    try count([(.wifi, .no, 1_000_000, 1)], ago: ago + 1)
    try count([(.wifi, .no, 2_000_000, 4)], ago: ago)
    let days = ["--days", String(ago + 1)]
    let json = try #require(try CommandRun(["usage", "--json"] + days, in: folder).objects.first)
    #expect(json["from"] == .string("\(month)-02"))
    #expect(json["total"] == ["bytes": 2_000_000, "transfers": 4])
    guard case .array(let months)? = json["months"], case .object(let first)? = months.first else {
      Issue.record("no months")
      return
    }
    #expect(first["month"] == .string(month) && first["bytes"] == 3_000_000 && first["transfers"] == 5)
    let table = try CommandRun(["usage"] + days, in: folder).output.split(separator: "\n")
    #expect(
      table.map(String.init) == [
        month, "  \(month)-02  wifi      unmetered      2 MB       4  \(String(repeating: "█", count: 27))",
        "  all month   wifi      unmetered      3 MB       5",
        "  \(ago + 1) days                             2 MB       4",
      ]
    )
    let chart = try CommandRun(["usage", "--svg", "-"] + days, in: folder).output
    #expect(chart.contains("<title>\(month) wifi: 3 MB</title>"))
    #expect(chart.contains("received from \(month)-01 to ") && chart.contains(", 5 transfers"), "as its bars")
    #expect(chart.contains(">wifi  3 MB</text>"))
  }

  @Test func `a budget is reported with its rest`() throws {
    try count([(.cellular, .yes, 1_500_000, 20), (.wifi, .no, 300_000_000, 1234)])
    #expect(try CommandRun(["settings", "set", "cellular-budget", "2 MB"], in: folder).status == 0)
    let run = try CommandRun(["usage"], in: folder)
    #expect(run.output.contains("cellular budget: 500 kB of 2 MB left until "), "\(run.output)")
    let json = try CommandRun(["usage", "--json"], in: folder)
    guard case .object(let budget)? = try json.objects.first?["budget"] else {
      Issue.record("no budget in \(json.output)")
      return
    }
    #expect(budget["limit"] == 2_000_000 && budget["used"] == 1_500_000 && budget["left"] == 500_000)
  }

  @Test func `a chart is written whole, to a file or to standard output`() throws {
    try count([(.cellular, .yes, 1_500_000, 20)])
    let path = folder.path("chart.svg")
    let run = try CommandRun(["usage", "--svg", path], in: folder)
    #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
    let written = try TestFolder.text(of: path)
    #expect(written.hasPrefix("<svg ") && written.contains("cellular: 1.5 MB"))
    #expect(try CommandRun(["usage", "--svg", "-"], in: folder).output == written)
  }

  @Test func `an empty ledger is reported, also after clearing`() throws {
    let nothing = try CommandRun(["usage"], in: folder)
    #expect(nothing.status == 0 && nothing.output.hasPrefix("no data received from "))
    #expect(folder.files(below: ".local").isEmpty, "a query creates no folders")
    try count([(.cellular, .yes, 1_500_000, 20)])
    #expect(try CommandRun(["usage", "clear"], in: folder).status == 0)
    #expect(try CommandRun(["usage"], in: folder).output == nothing.output)
  }

  static let slips: [([String], Int32, String)] = [
    (["--days", "0"], 2, "--days: expected a number of at least 1, found 0"),
    (["--days", "-1"], 2, "--days: expected a number of at least 1, found -1"),
    (["--days", "many"], 2, "days"), (["--json", "--svg", "-"], 2, "cannot be used together"),
    (["--svg", "/nowhere/a.svg"], 2, "the folder `/nowhere` does not exist"),
    (["--state-dir", ""], 2, "expected a folder, found an empty path"),
    (["--days", "999999999999"], 0, ""),
  ]

  @Test(arguments: slips)
  func `invalid arguments are reported in a sentence`(
    _ arguments: [String],
    _ status: Int32,
    _ message: String
  ) throws {
    let run = try CommandRun(["usage"] + arguments, in: folder)
    #expect(run.status == status, "\(run.errors)")
    #expect(message.isEmpty || run.errors.contains(message), "\(run.errors)")
  }

  @Test func `a ledger that cannot be read is named`() throws {
    try folder.write("\(Self.ledgers)/usage.sqlite/in-the-way", "")
    let run = try CommandRun(["usage"], in: folder)
    #expect(run.status == 1)
    #expect(run.errors.contains("cannot read `\(folder.path(Self.ledgers))/usage.sqlite`: is a directory"))
  }
}
