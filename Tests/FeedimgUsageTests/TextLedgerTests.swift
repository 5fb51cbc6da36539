import FeedimgModel
import FoundationEssentials
import Glibc
import Testing

@testable import FeedimgUsage

/// The text ledgers of earlier versions, whose counts move into the database.
struct TextLedgerTests {
  static let lines: [(String, NetworkKind, Metered, Int, Int)] = [
    ("2026-11-21 cellular metered 12345 1", .cellular, .yes, 12_345, 1),
    ("2026-11-21 wifi unmetered 0 7", .wifi, .no, 0, 7),
    ("2026-11-21 other unknown 9223372036854775807 0", .other, .unknown, .max, 0),
    ("2026-11-21 ethernet unmetered 1 9223372036854775807", .ethernet, .no, 1, .max),
  ]

  @Test(arguments: lines)
  func `a line gives the received bytes`(
    _ text: String,
    _ network: NetworkKind,
    _ metered: Metered,
    _ received: Int,
    _ transfers: Int
  ) throws {
    let usage = try #require(TextLedgers.usage(of: Array(text.utf8)[...]))
    #expect(usage.day.description == "2026-11-21")
    #expect(usage.network == network && usage.metered == metered)
    #expect(usage.received.bytes == received && usage.transfers == transfers)
  }

  static let slips = [
    ("", "nothing"), ("2026-11-21 cellular metered 12345", "torn before the last word"),
    ("2026-11-21 cellular metered 12345 ", "torn within the last space"),
    ("2026-11-21 cell2026-11-21 cellular metered 12345 1", "torn, followed by another line"),
    ("2026-11-21 cellular metered 12345 12026-11-21 wifi unmetered 1 1", "torn, followed by another line"),
    ("2026-11-31 cellular metered 1 1", "no day"), ("2026-11-21 offline unmetered 1 1", "no network"),
    ("2026-11-21 wimax metered 1 1", "no network"), ("2026-11-21 wifi free 1 1", "no price"),
    ("2026-11-21 wifi unmetered -1 1", "a sign"), ("2026-11-21 wifi unmetered 1.5 1", "a fraction"),
    ("2026-11-21 wifi unmetered 9223372036854775808 1", "too great"),
    ("2026-11-21  wifi unmetered 1 1", "two spaces"),
    ("2026-11-21 wifi unmetered 1 1 sent=2", "a sixth word"),
    ("\u{0}\u{0}\u{0}", "zeros, as after a power failure"), (String(repeating: "9", count: 1000), "too long"),
    ("2026-11-21 wifi unmetered 1 1\r", "line ends of other systems"),
  ]

  @Test(arguments: slips)
  func `an invalid line counts nothing`(_ text: String, _ reason: String) {
    #expect(TextLedgers.usage(of: Array(text.utf8)[...]) == nil, "\(reason)")
  }

  @Test func `lines add up by day, network and metering, with torn ones between them`() throws {
    let text = """
      # a remark
      2026-11-21 cellular metered 100 1
      2026-11-20 cellular metered 50 1
      2026-11-21 cell

      2026-11-21 cellular metered 11 1
      2026-11-21 cellular unknown 5 0
      {"from": "another program"}
      2026-11-21 wifi unmetered 9223372036854775807 2
      2026-11-21 wifi unmetered 3 1
      2026-11-21 wifi unmetered 7 1
      """
    let content = try #require(TextLedgers.content(of: Array(text.utf8)))
    #expect(content.usage.map(\.received.bytes) == [50, .max, 111, 5])
    #expect(content.usage.map(\.transfers) == [1, 3, 2, 0])
    #expect(
      content.unreadableCount == 3,
      "the last line is unterminated, because its writer has written it again"
    )
  }

  @Test func `any bytes are read without harm`() {
    var random = SystemRandomNumberGenerator()
    let letters = Array("2026-11-21 wifi cellular metered 0 9\n# \u{E4}".utf8) + [0, 255]
    for _ in 0..<2000 {
      let count = Int.random(in: 0..<120, using: &random)
      let text = (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
      #expect(TextLedgers.content(of: text) != nil)
    }
  }

  // MARK: Files

  private func ledger(_ folder: LedgerFolder) -> UsageLedger {
    let now = noon(2026, 11, 21)
    return UsageLedger(folder: folder.path) { now }
  }

  @Test func `all months are imported once, and their files are removed`() throws {
    let folder = try LedgerFolder()
    let line = "2026-11-20 cellular metered 3 1\n"
    try folder.write(String(repeating: line, count: 10_000), to: "2026-11.txt")
    try folder.write("2025-01-01 wifi unmetered 8 2\n", to: "2025-01.txt")
    for _ in 0..<2 {
      let (usage, unreadableCount) = try ledger(folder).all()
      #expect(usage.map(\.received.bytes) == [8, 30_000] && usage.map(\.transfers) == [2, 10_000])
      #expect(unreadableCount == 0)
    }
    #expect(folder.names.filter { !$0.hasPrefix("usage.sqlite") }.isEmpty, "\(folder.names)")
  }

  @Test func `the first count imports as well, and so does the first query`() throws {
    let day = try #require(CalendarDay("2026-11-21"))
    for counts in [true, false] {
      let folder = try LedgerFolder()
      try folder.write("2026-11-21 cellular metered 100 1\n", to: "2026-11.txt")
      let ledger = ledger(folder)
      if counts { ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes) }
      #expect(ledger.usage(on: day...day).map(\.received.bytes) == [counts ? 107 : 100])
      #expect(try folder.rows() == ["2026-11-21 cellular metered \(counts ? 107 : 100) \(counts ? 2 : 1)"])
    }
  }

  @Test func `unreadable lines are not counted but reported, and stay in the file`() throws {
    let folder = try LedgerFolder()
    let text = "2026-11-21 cellular metered 100 1\nwhat is this\n2026-11-21 cell"
    try folder.write(text, to: "2026-11.txt")
    for _ in 0..<2 {
      let (usage, unreadableCount) = try ledger(folder).all()
      #expect(usage.map(\.received.bytes) == [100] && unreadableCount == 2)
    }
    let name = try #require(folder.names.first { $0.hasSuffix(".old") })
    #expect(try folder.text(of: name) == text)
  }

  @Test func `an earlier version that still runs begins a new file, which the next start imports`() throws {
    let folder = try LedgerFolder()
    for round in 1...3 {
      try folder.write("2026-11-21 cellular metered 100 1\n", to: "2026-11.txt")
      #expect(try ledger(folder).all().usage.map(\.received.bytes) == [round * 100])
    }
  }

  @Test func `a ledger that an earlier version is writing to is not taken from it`() throws {
    let folder = try LedgerFolder()
    try folder.write("2026-11-21 cellular metered 100 1\n", to: "2026-11.txt")
    let descriptor = open(folder.path + "/2026-11.txt", O_WRONLY | O_APPEND | O_CLOEXEC)
    #expect(flock(descriptor, LOCK_SH) == 0)
    let ledger = ledger(folder)
    let fault = #expect(throws: UsageFault.self) { try ledger.all() }
    #expect(fault?.isBusy == true)
    let line = Array("2026-11-21 cellular metered 11 1\n".utf8)
    #expect(write(descriptor, line, line.count) == line.count)
    #expect(flock(descriptor, LOCK_UN) == 0)
    close(descriptor)
    // A process of another test may hold the lock for a moment longer.
    #expect((0..<100).contains { _ in (try? ledger.all())?.usage.map(\.received.bytes) == [111] })
  }

  @Test(arguments: [
    String(repeating: "x", count: 2 << 20), String(repeating: "what is this\n", count: 100_000),
  ])
  func `the file of another program is refused and not changed`(_ text: String) throws {
    let folder = try LedgerFolder()
    try folder.write(text, to: "2026-11.txt")
    let fault = #expect(throws: UsageFault.self) { try ledger(folder).all() }
    #expect(fault?.description == "cannot read `\(folder.path)/2026-11.txt`: file too large")
    #expect(try folder.text(of: "2026-11.txt") == text)
  }

  @Test func `a folder in place of a ledger is reported, and counting continues`() throws {
    let folder = try LedgerFolder()
    try folder.write("", to: "notes")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/2026-11.txt",
      withIntermediateDirectories: true
    )
    let ledger = ledger(folder)
    ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
    #expect(ledger.takeWarnings().isEmpty)
    #expect(try folder.rows() == ["2026-11-21 cellular metered 7 1"])
    let fault = #expect(throws: UsageFault.self) { try ledger.all() }
    #expect(fault?.description == "cannot use `\(folder.path)/2026-11.txt`: is a directory")
  }
}
