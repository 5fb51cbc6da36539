import Feedimg
import FeedimgModel
import Testing

@testable import FeedimgAdmin

/// The sums of a usage report, and its chart.
@Suite struct UsageReportTests {
  static func usage(
    _ day: String,
    _ network: NetworkKind,
    _ metered: Metered,
    _ bytes: Int,
    transfers: Int = 1
  ) throws -> NetworkUsage {
    NetworkUsage(
      day: try #require(CalendarDay(day)),
      network: network,
      metered: metered,
      received: ByteCount(bytes),
      transfers: transfers
    )
  }

  static func report(from first: String, _ usage: [NetworkUsage]) throws -> UsageReport {
    let days = try #require(CalendarDay(first))...(try #require(CalendarDay("2026-11-21")))
    return UsageReport(days: days, usage: usage, folder: "/state/feedimg/usage")
  }

  @Test func `months and the total are sums by network and metering`() throws {
    let report = try Self.report(
      from: "2026-10-01",
      [
        try Self.usage("2026-10-30", .wifi, .no, 1), try Self.usage("2026-10-31", .cellular, .yes, 10),
        try Self.usage("2026-11-01", .cellular, .yes, 100), try Self.usage("2026-11-02", .wifi, .no, 1000),
        try Self.usage("2026-11-02", .cellular, .unknown, 10_000),
        try Self.usage("2026-11-03", .cellular, .yes, 100_000),
      ]
    )
    #expect(
      report.months.map { "\($0.day) \($0.network) \($0.metered) \($0.received) \($0.transfers)" } == [
        "2026-10-01 wifi no 1 B 1", "2026-10-01 cellular yes 10 B 1", "2026-11-01 wifi no 1 kB 1",
        "2026-11-01 cellular yes 100100 B 2", "2026-11-01 cellular unknown 10 kB 1",
      ]
    )
    #expect(report.total.received == ByteCount(111_111) && report.total.transfers == 6)
  }

  @Test func `sums end at the largest number`() throws {
    let report = try Self.report(
      from: "2026-11-01",
      [
        try Self.usage("2026-11-01", .wifi, .no, .max, transfers: .max),
        try Self.usage("2026-11-02", .wifi, .no, 1, transfers: 1),
      ]
    )
    #expect(report.total.transfers == .max && report.total.received == ByteCount(.max))
    #expect(report.months.map(\.transfers) == [.max])
    #expect(report.months.map(\.received) == [ByteCount(.max)])
  }

  @Test func `a budget counts only cellular data, in the current period`() throws {
    var settings = UserSettings()
    let today = try #require(CalendarDay("2026-11-21"))
    #expect(CellularBudget(settings, today: today) { _ in [] } == nil)
    settings.cellularBudget = ByteCount(1000)
    settings.cellularBudgetDay = 15
    let usage = [
      try Self.usage("2026-11-20", .cellular, .yes, 100), try Self.usage("2026-11-20", .cellular, .no, 10),
      try Self.usage("2026-11-20", .wifi, .yes, 5000),
    ]
    let budget = CellularBudget(settings, today: today) { days in
      #expect("\(days.lowerBound) \(days.upperBound)" == "2026-11-15 2026-12-14")
      return usage
    }
    #expect(budget?.used == ByteCount(110) && budget?.left == ByteCount(890))
    settings.cellularBudget = ByteCount(50)
    #expect(CellularBudget(settings, today: today) { _ in usage }?.left == ByteCount(0))
  }

  @Test func `the chart has one bar for each day and network`() throws {
    let report = try Self.report(
      from: "2026-11-15",
      [
        try Self.usage("2026-11-15", .wifi, .no, 3_000_000),
        try Self.usage("2026-11-15", .cellular, .yes, 1_000_000),
        try Self.usage("2026-11-21", .cellular, .yes, 1),
      ]
    )
    let svg = report.svg
    #expect(svg.contains("<title>2026-11-15 wifi: 3 MB</title>"))
    #expect(svg.contains("<title>2026-11-15 cellular: 1 MB</title>"))
    #expect(svg.contains(#"height="1"><title>2026-11-21 cellular: 1 B</title>"#), "as little as can be seen")
    #expect(svg.split(separator: "</title></rect>").count - 1 == 3)
    #expect(svg.contains(">4 MB</text>") && !svg.contains(">5 MB</text>"), "the scale ends above the bars")
    #expect(svg.contains("prefers-color-scheme: dark"))
  }

  @Test func `many days are drawn as months`() throws {
    let report = try Self.report(from: "2025-11-22", [try Self.usage("2026-03-05", .wifi, .no, 100)])
    #expect(report.svg.contains("<title>2026-03 wifi: 100 B</title>"))
    #expect(report.svg.contains(">2026-11</text>"))
  }

  static let extremes: [[Int]] = [[], [0], [1], [.max, .max], [999, 1000, 1001], [.max - 1, 1]]

  @Test(arguments: extremes)
  func `any amounts can be drawn`(_ amounts: [Int]) throws {
    let usage = try amounts.enumerated().map { try Self.usage("2026-11-1\($0)", .wifi, .no, $1) }
    let svg = try Self.report(from: "2026-11-01", usage).svg
    #expect(svg.hasSuffix("</svg>\n") && !svg.contains("nan") && !svg.contains("inf"))
    #expect(svg.split(separator: "<line ").count - 1 <= 7)
  }

  @Test func `one day with more bytes than an integer holds can be drawn`() throws {
    let networks: [NetworkKind] = [.cellular, .wifi, .ethernet]
    let usage = try networks.map { try Self.usage("2026-11-15", $0, .no, .max / 2 + 1) }
    let svg = try Self.report(from: "2026-11-15", usage).svg
    #expect(svg.hasSuffix("</svg>\n"))
    #expect(svg.split(separator: "<rect class=\"").count - 1 >= networks.count)
  }
}
