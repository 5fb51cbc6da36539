import FeedimgModel
import Testing

@testable import FeedimgUsage

/// The text of a ledger and its sums.
struct UsageSheetTests {
  static let lines: [(String, NetworkKind, Metered, Int, Int)] = [
    ("2026-11-21 cellular metered 12345 1", .cellular, .yes, 12_345, 1),
    ("2026-11-21 wifi unmetered 0 7", .wifi, .no, 0, 7),
    ("2026-11-21 other unknown 9223372036854775807 0", .other, .unknown, .max, 0),
    ("2026-11-21 ethernet unmetered 1 9223372036854775807", .ethernet, .no, 1, .max),
  ]

  @Test(arguments: lines)
  func `a line says what was received, and is written as it is read`(
    _ text: String,
    _ network: NetworkKind,
    _ metered: Metered,
    _ received: Int,
    _ transfers: Int
  ) throws {
    let line = try #require(UsageLine(Array(text.utf8)[...]))
    #expect(line.usage.day.description == "2026-11-21")
    #expect(line.usage.network == network && line.usage.metered == metered)
    #expect(line.usage.received.bytes == received && line.usage.transfers == transfers)
    #expect(String(decoding: line.bytes, as: UTF8.self) == text + "\n")
  }

  static let slips = [
    ("", "nothing"), ("2026-11-21 cellular metered 12345", "torn before the last word"),
    ("2026-11-21 cellular metered 12345 ", "torn within the last space"),
    ("2026-11-21 cell2026-11-21 cellular metered 12345 1", "torn, and another behind it"),
    ("2026-11-21 cellular metered 12345 12026-11-21 wifi unmetered 1 1", "torn, and another behind it"),
    ("2026-11-31 cellular metered 1 1", "no day"), ("2026-11-21 offline unmetered 1 1", "no network"),
    ("2026-11-21 wimax metered 1 1", "no network"), ("2026-11-21 wifi free 1 1", "no price"),
    ("2026-11-21 wifi unmetered -1 1", "a sign"), ("2026-11-21 wifi unmetered 1.5 1", "a fraction"),
    ("2026-11-21 wifi unmetered 9223372036854775808 1", "too great"),
    ("2026-11-21  wifi unmetered 1 1", "two spaces"),
    ("2026-11-21 wifi unmetered 1 1 sent=2", "a sixth word"),
    ("\u{0}\u{0}\u{0}", "zeros, as after a power failure"), (String(repeating: "9", count: 1000), "too long"),
    ("2026-11-21 wifi unmetered 1 1\r", "the end of lines elsewhere"),
  ]

  @Test(arguments: slips)
  func `what is no line counts nothing`(_ text: String, _ reason: String) {
    #expect(UsageLine(Array(text.utf8)[...]) == nil, "\(reason)")
  }

  @Test func `lines add up by day, network and price, whatever stands between them`() {
    let text = """
      # a remark
      2026-11-21 cellular metered 100 1
      2026-11-20 cellular metered 50 1
      2026-11-21 cell

      2026-11-21 cellular metered 11 1
      2026-11-21 cellular unknown 5 0
      {"from": "another program"}
      2026-11-21 wifi unmetered 7 2
      2026-11-21 wifi unmetered 3
      """
    let sheet = UsageSheet(Array(text.utf8))
    #expect(
      String(decoding: sheet.lines, as: UTF8.self) == """
        2026-11-20 cellular metered 50 1
        2026-11-21 wifi unmetered 7 2
        2026-11-21 cellular metered 111 2
        2026-11-21 cellular unknown 5 0

        """
    )
    #expect(sheet.foreignLines.count == 2, "the last line has no end and is not judged yet")
  }

  @Test func `sums stay at the greatest number`() {
    var sheet = UsageSheet(Array("2026-11-21 wifi unmetered 9223372036854775807 1\n".utf8))
    sheet.add(sheet)
    #expect(sheet.usage().map(\.received.bytes) == [.max])
    #expect(sheet.usage().map(\.transfers) == [2])
  }

  @Test func `a compacted text says the same, and keeps what nobody understood`() {
    let text = Array(
      "2026-11-21 wifi unmetered 7 2\nwhat is this\n2026-11-21 wifi unmetered 1 1\n".utf8
    )
    let compacted = UsageSheet(UsageSheet(text).compacted)
    #expect(compacted.usage() == UsageSheet(text).usage())
    #expect(compacted.foreignLines.map { String(decoding: $0, as: UTF8.self) } == ["what is this"])
    #expect(UsageSheet(compacted.compacted) == compacted)
  }

  @Test func `any bytes are read without harm`() {
    var random = SystemRandomNumberGenerator()
    let letters = Array("2026-11-21 wifi cellular metered 0 9\n# \u{E4}".utf8) + [0, 255]
    for _ in 0..<2000 {
      let count = Int.random(in: 0..<120, using: &random)
      let text = (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
      let sheet = UsageSheet(text)
      #expect(UsageSheet(sheet.compacted).usage() == sheet.usage())
    }
  }
}
