import FeedimgModel
import FeedimgSQLite
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import FeedimgUsage

/// A ledger on a real disk.
struct UsageLedgerTests {
  let folder: LedgerFolder
  let november = noon(2026, 11, 21)

  init() throws { folder = try LedgerFolder() }

  func ledger() -> UsageLedger {
    let now = november
    return UsageLedger(folder: folder.path) { now }
  }

  func count(_ bytes: Int, in ledger: UsageLedger) {
    ledger.add(ByteCount(bytes), transfers: 1, network: .cellular, metered: .yes)
    ledger.write()
  }

  func days(_ first: String, _ last: String) throws -> ClosedRange<CalendarDay> {
    try #require(CalendarDay(first))...(try #require(CalendarDay(last)))
  }

  @Test func `the next process sees the counts, in files private to the user`() throws {
    count(100, in: ledger())
    count(11, in: ledger())
    let former = ledger()
    former.add(ByteCount(5), transfers: 1, network: .wifi, metered: .no)
    former.write()
    let usage = ledger().usage(on: try days("2026-11-21", "2026-11-21")).usage
    #expect(usage.map(\.network) == [.wifi, .cellular])
    #expect(usage.map(\.received.bytes) == [5, 111])
    #expect(usage.map(\.transfers) == [1, 2])
    #expect(try folder.rows() == ["2026-11-21 cellular metered 111 2", "2026-11-21 wifi unmetered 5 1"])
    #expect(folder.mode(of: folder.path) == 0o700)
    #expect(folder.mode(of: folder.root + "/state") == 0o700)
    let open = ledger()
    count(1, in: open)
    for name in folder.names { #expect(folder.mode(of: "\(folder.path)/\(name)") == 0o600, "\(name)") }
    #expect(open.takeWarnings().isEmpty)
  }

  @Test func `the day changes with the clock, and days are counted apart`() throws {
    let now = Mutex(noon(2026, 11, 30))
    let ledger = UsageLedger(folder: folder.path) { now.withLock { $0 } }
    ledger.add(ByteCount(1), transfers: 1, network: .wifi, metered: .no)
    ledger.write()
    now.withLock { $0 = noon(2026, 12, 1) }
    #expect(ledger.today().description == "2026-12-01")
    ledger.add(ByteCount(2), transfers: 1, network: .wifi, metered: .no)
    ledger.write()
    #expect(ledger.usage(on: try days("2026-11-30", "2026-12-01")).usage.map(\.received.bytes) == [1, 2])
    #expect(ledger.usage(on: try days("2026-12-01", "2026-12-31")).usage.map(\.received.bytes) == [2])
    #expect(ledger.usage(on: try days("0001-01-01", "9999-12-31")).usage.map(\.received.bytes) == [1, 2])
    #expect(ledger.usage(on: try days("2020-01-01", "2026-10-31")).usage.isEmpty)
  }

  @Test func `counts of another process are visible at once, also after clearing`() throws {
    let (mine, other) = (ledger(), ledger())
    let today = try days("2026-11-21", "2026-11-21")
    for number in 1...5 {
      count(10, in: other)
      #expect(mine.usage(on: today).usage.map(\.received.bytes) == [number * 10])
    }
    try other.clear()
    #expect(mine.usage(on: today).usage.isEmpty)
    count(3, in: mine)
    #expect(other.usage(on: today).usage.map(\.received.bytes) == [3])
  }

  @Test func `a query creates no files`() throws {
    #expect(ledger().usage(on: try days("2026-11-21", "2026-11-21")).usage.isEmpty)
    #expect(try ledger().all().usage.isEmpty)
    try ledger().clear()
    #expect(folder.mode(of: folder.root + "/state") == nil)
  }

  @Test func `sums stay at the largest number`() throws {
    for _ in 0..<2 {
      let former = ledger()
      former.add(ByteCount(.max - 1), transfers: .max, network: .wifi, metered: .unknown)
      former.write()
    }
    #expect(try folder.rows() == ["2026-11-21 wifi unknown \(Int.max) \(Int.max)"])
    #expect(try ledger().all().usage.map(\.received.bytes) == [.max])
  }

  @Test func `rows of a later version are not counted but reported as unreadable`() throws {
    count(7, in: ledger())
    try SQLiteConnection(path: folder.database, access: .write)
      .execute("INSERT INTO usage VALUES ('2026-11-21', 'satellite', 'metered', 1, 1)")
    let (usage, unreadableCount) = try ledger().all()
    #expect(usage.map(\.received.bytes) == [7] && unreadableCount == 1)
  }

  @Test func `the schema of a later version is not touched`() throws {
    count(7, in: ledger())
    try SQLiteConnection(path: folder.database, access: .write).execute("PRAGMA user_version = 99")
    let later = ledger()
    count(5, in: later)
    let warnings = later.takeWarnings()
    #expect(warnings.count == 1 && warnings[0].contains("a later version made it (schema 99)"), "\(warnings)")
    #expect(throws: UsageLedgerError.self) { try later.all() }
    #expect(try folder.rows() == ["2026-11-21 cellular metered 7 1"])
  }

  // MARK: Trouble

  enum Use: CaseIterable {
    case count, report, budget, clear
  }

  @Test(arguments: Use.allCases)
  func `a damaged database is set aside with one warning, and counting continues`(_ use: Use) throws {
    try folder.write(String(repeating: "no database ", count: 1000), to: "usage.sqlite")
    let ledger = ledger()
    let today = try days("2026-11-21", "2026-11-21")
    switch use {
    case .count: count(7, in: ledger)
    case .report: #expect(try ledger.all().usage.isEmpty)
    case .budget: #expect(ledger.usage(on: today).gap == nil)
    case .clear: try ledger.clear()
    }
    let path = folder.database
    #expect(
      ledger.takeWarnings() == [
        "the usage ledger `\(path)` is damaged: it was renamed to `\(path).damaged`, "
          + "and counting starts at zero"
      ]
    )
    count(11, in: ledger)
    #expect(ledger.usage(on: today).usage.map(\.received.bytes) == [use == .count ? 18 : 11])
    #expect(ledger.takeWarnings().isEmpty)
    #expect(folder.names.contains("usage.sqlite.damaged") == (use != .clear))
  }

  @Test func `a torn database is set aside while others have it open`() throws {
    let (mine, other) = (ledger(), ledger())
    for number in 0..<400 {
      let now = november + Double(number) * 86_400
      let former = UsageLedger(folder: folder.path) { now }
      former.add(ByteCount(1), transfers: 1, network: .wifi, metered: .no)
      former.write()
    }
    count(5, in: mine)
    count(5, in: other)
    // Moved out of the log, then overwritten after its first page.
    try SQLiteConnection(path: folder.database, access: .write).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = open(folder.database, O_WRONLY | O_CLOEXEC)
    let junk = [UInt8](repeating: 0x55, count: 4096)
    for page in 1..<8 { #expect(pwrite(file, junk, junk.count, off_t(page * 4096)) == junk.count) }
    close(file)
    let today = try days("2026-11-21", "2026-11-21")
    for ledger in [mine, other] { count(7, in: ledger) }
    #expect(ledger().usage(on: today).usage.map(\.received.bytes).last == 14)
    let warnings = mine.takeWarnings() + other.takeWarnings()
    #expect(warnings.count == 1 && warnings[0].hasPrefix("the usage ledger "), "\(warnings)")
  }

  @Test func `if a user removes the files, counting continues in new ones`() throws {
    let ledger = ledger()
    count(7, in: ledger)
    try FileManager.default.removeItem(atPath: folder.root + "/state")
    count(5, in: ledger)
    #expect(try folder.rows() == ["2026-11-21 cellular metered 5 1"])
  }

  @Test func `another process that writes is not waited for, and nothing is lost`() throws {
    let ledger = ledger()
    count(100, in: ledger)
    let other = try SQLiteConnection(path: folder.database, access: .write)
    try other.execute("BEGIN IMMEDIATE")
    count(7, in: ledger)
    #expect(!ledger.flush())
    let today = try days("2026-11-21", "2026-11-21")
    #expect(ledger.usage(on: today).usage.map(\.received.bytes) == [107], "partly from memory")
    #expect(ledger.takeWarnings().isEmpty, "this is not an error")
    try other.execute("ROLLBACK")
    #expect(ledger.flush())
    #expect(ledger.usage(on: today).usage.map(\.received.bytes) == [107], "from the disk")
    #expect(try folder.rows() == ["2026-11-21 cellular metered 107 2"])
  }

  @Test(arguments: ["a file in place of the folder", "a folder in place of the file", "a pipe"])
  func `if nothing can be written, usage is counted in memory and reported once`(_ obstacle: String) throws {
    switch obstacle {
    case "a file in place of the folder":
      try Data().write(to: URL(filePath: folder.root + "/state"))
    case "a folder in place of the file":
      try FileManager.default.createDirectory(atPath: folder.database, withIntermediateDirectories: true)
    default:
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      #expect(mkfifo(folder.database, 0o600) == 0)
    }
    let ledger = ledger()
    for _ in 0..<3 { count(7, in: ledger) }
    let warnings = ledger.takeWarnings()
    #expect(warnings.count == 1, "\(warnings)")
    #expect(warnings.first?.hasPrefix("usage is counted in memory alone: cannot ") == true, "\(warnings)")
    #expect(ledger.takeWarnings().isEmpty)
    for _ in 0..<2 {
      let (usage, gap) = ledger.usage(on: try days("2026-11-01", "2026-11-30"))
      #expect(usage.map(\.received.bytes) == [21])
      #expect(gap?.hasPrefix("cannot ") == true, "\(gap ?? "no gap")")
    }
    #expect(ledger.takeWarnings().map { $0.prefix(38) } == ["the cellular-budget counts as spent: c"])
  }

  @Test func `clearing forgets everything, and counting continues`() throws {
    let ledger = ledger()
    try ledger.clear()
    count(7, in: ledger)
    try folder.write("mine", to: "notes.txt")
    try ledger.clear()
    #expect(folder.names.filter { !$0.hasPrefix("usage.sqlite") } == ["notes.txt"])
    #expect(try folder.rows().isEmpty)
    #expect(try ledger.all().usage.isEmpty)
    count(5, in: ledger)
    #expect(try ledger.all().usage.map(\.received.bytes) == [5])
  }
}
