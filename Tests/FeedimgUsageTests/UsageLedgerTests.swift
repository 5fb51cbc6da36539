import FeedimgModel
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

  func days(_ first: String, _ last: String) throws -> ClosedRange<CalendarDay> {
    try #require(CalendarDay(first))...(try #require(CalendarDay(last)))
  }

  @Test func `what is counted is there for the next process, in folders for the user alone`() throws {
    ledger().add(ByteCount(100), transfers: 1, network: .cellular, metered: .yes)
    ledger().add(ByteCount(11), transfers: 1, network: .cellular, metered: .yes)
    ledger().add(ByteCount(5), transfers: 1, network: .wifi, metered: .no)
    let usage = ledger().usage(on: try days("2026-11-21", "2026-11-21"))
    #expect(usage.map(\.network) == [.wifi, .cellular])
    #expect(usage.map(\.received.bytes) == [5, 111])
    #expect(usage.map(\.transfers) == [1, 2])
    #expect(try folder.text(of: "2026-11.txt").hasSuffix("2026-11-21 wifi unmetered 5 1\n"))
    #expect(folder.mode(of: folder.path) == 0o700)
    #expect(folder.mode(of: folder.root + "/state") == 0o700)
    #expect(folder.mode(of: folder.path + "/2026-11.txt") == 0o600)
  }

  @Test func `the day changes with the clock, and a month has a file of its own`() throws {
    let now = Mutex(noon(2026, 11, 30))
    let ledger = UsageLedger(folder: folder.path) { now.withLock { $0 } }
    ledger.add(ByteCount(1), transfers: 1, network: .wifi, metered: .no)
    now.withLock { $0 = noon(2026, 12, 1) }
    #expect(ledger.today().description == "2026-12-01")
    ledger.add(ByteCount(2), transfers: 1, network: .wifi, metered: .no)
    #expect(folder.names == ["2026-11.txt", "2026-12.txt"])
    #expect(ledger.usage(on: try days("2026-11-30", "2026-12-01")).map(\.received.bytes) == [1, 2])
    #expect(ledger.usage(on: try days("2026-12-01", "2026-12-31")).map(\.received.bytes) == [2])
    #expect(ledger.usage(on: try days("2020-01-01", "2030-01-01")).map(\.received.bytes) == [1, 2])
    #expect(ledger.usage(on: try days("2020-01-01", "2026-10-31")).isEmpty)
  }

  @Test func `another process is seen at once, also after its compaction`() throws {
    let (mine, other) = (ledger(), ledger())
    let today = try days("2026-11-21", "2026-11-21")
    for count in 1...5 {
      other.add(ByteCount(10), transfers: 1, network: .cellular, metered: .yes)
      #expect(mine.usage(on: today).map(\.received.bytes) == [count * 10])
      try LedgerFile(folder: folder.path, month: "2026-11").compact()
      #expect(mine.usage(on: today).map(\.received.bytes) == [count * 10])
    }
  }

  @Test func `a torn line costs no line behind it`() throws {
    try folder.write("2026-11-21 cellular metered 100 1\n2026-11-21 cell", to: "2026-11.txt")
    let ledger = ledger()
    ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
    #expect(ledger.usage(on: try days("2026-11-21", "2026-11-21")).map(\.received.bytes) == [107])
    #expect(try ledger.all().foreignLineCount == 1)
  }

  @Test func `a line that lacks its end alone does not count, as who wrote it writes it again`() throws {
    try folder.write("2026-11-21 cellular metered 100 1", to: "2026-11.txt")
    let ledger = ledger()
    ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
    #expect(ledger.usage(on: try days("2026-11-21", "2026-11-21")).map(\.received.bytes) == [7])
    #expect(try ledger.all().foreignLineCount == 1)
  }

  @Test func `a ledger of many blocks is read and compacted`() throws {
    let line = "2026-11-20 cellular metered 3 1\n"
    let count = 10_000
    try folder.write(String(repeating: line, count: count) + "what is this\n", to: "2026-11.txt")
    #expect(try ledger().all().usage.map(\.received.bytes) == [3 * count])
    let length = try #require(try LedgerFile(folder: folder.path, month: "2026-11").compact())
    #expect(length < 200)
    let (usage, foreignLineCount) = try ledger().all()
    #expect(usage.map(\.transfers) == [count] && foreignLineCount == 1)
  }

  @Test(arguments: [
    String(repeating: "x", count: 2 << 20), String(repeating: "what is this\n", count: 100_000),
  ])
  func `a file of something else is not read, and stays as it is`(_ text: String) throws {
    try folder.write(text, to: "2026-11.txt")
    #expect(throws: UsageFault.self) { try ledger().all() }
    #expect(throws: UsageFault.self) { try LedgerFile(folder: folder.path, month: "2026-11").compact() }
    #expect(try folder.text(of: "2026-11.txt") == text)
  }

  @Test func `a long ledger is compacted, and says the same`() throws {
    let line = "2026-11-20 cellular metered 3 1\n"
    try folder.write(String(repeating: line, count: 10_000) + "what is this\n", to: "2026-11.txt")
    let file = LedgerFile(folder: folder.path, month: "2026-11")
    let length = try #require(try file.compact())
    #expect(try folder.text(of: "2026-11.txt").utf8.count == length && length < 200)
    #expect(try folder.text(of: "2026-11.txt").hasPrefix("# feedimg usage"))
    let (usage, foreignLineCount) = try ledger().all()
    #expect(usage.map(\.received.bytes) == [30_000] && usage.map(\.transfers) == [10_000])
    #expect(foreignLineCount == 1)
    #expect(folder.names == ["2026-11.txt"])
  }

  @Test func `what a compaction that was killed has left does not count, nor stand in the way`() throws {
    try folder.write("2026-11-21 cellular metered 100 1\n", to: "2026-11.txt")
    try folder.write("2026-11-21 cellular metered 100 1\n2026-11-21 cel", to: "2026-11.txt.new")
    #expect(try ledger().all().usage.map(\.received.bytes) == [100])
    try LedgerFile(folder: folder.path, month: "2026-11").compact()
    #expect(try ledger().all().usage.map(\.received.bytes) == [100])
    #expect(folder.names == ["2026-11.txt"])
  }

  @Test func `who replaces the file is not waited for, and nothing is lost`() throws {
    try folder.write("2026-11-21 cellular metered 100 1\n", to: "2026-11.txt")
    let ledger = ledger()
    do {
      let lock = try LockedLedger(folder.path + "/2026-11.txt", LOCK_EX, within: 0, O_RDONLY)
      ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
      #expect(!ledger.flush())
      #expect(lock.path.hasSuffix("2026-11.txt"))
    }
    let today = try days("2026-11-21", "2026-11-21")
    #expect(ledger.usage(on: today).map(\.received.bytes) == [107], "from memory")
    #expect(ledger.takeWarnings().isEmpty, "that is no trouble")
    // A process that another test starts may hold the lock for a moment longer.
    #expect((0..<1000).contains { _ in ledger.flush() })
    #expect(ledger.usage(on: today).map(\.received.bytes) == [107], "from the disk")
    #expect(try folder.text(of: "2026-11.txt").hasSuffix("2026-11-21 cellular metered 7 1\n"))
  }

  @Test(arguments: ["a file where the folder should be", "a folder where the file should be", "a pipe"])
  func `where nothing can be written it is counted in memory, and said once`(_ obstacle: String) throws {
    switch obstacle {
    case "a file where the folder should be":
      try Data().write(to: URL(filePath: folder.root + "/state"))
    case "a folder where the file should be":
      try FileManager.default.createDirectory(
        atPath: folder.path + "/2026-11.txt",
        withIntermediateDirectories: true
      )
    default:
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      #expect(mkfifo(folder.path + "/2026-11.txt", 0o600) == 0)
    }
    let ledger = ledger()
    for _ in 0..<3 { ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes) }
    #expect(ledger.usage(on: try days("2026-11-01", "2026-11-30")).map(\.received.bytes) == [21])
    let warnings = ledger.takeWarnings()
    #expect(warnings.count == 1 && warnings[0].hasPrefix("usage is counted in memory alone: cannot "))
    #expect(ledger.takeWarnings().isEmpty)
  }

  @Test func `clearing forgets everything, and counting goes on`() throws {
    let ledger = ledger()
    try ledger.clear()
    ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
    try folder.write("2025-01-01 wifi unmetered 1 1\n", to: "2025-01.txt")
    try folder.write("2025-01-01 wifi unmetered 1 1\n", to: "2025-01.txt.new")
    try folder.write("2025-02-01 wifi unmetered 1 1\n", to: "2025-02.txt.new")
    let others = ["2025-13.txt", "2025-99.txt.new", "notes-1.txt", "notes.txt"]
    for name in others { try folder.write("mine", to: name) }
    #expect(try ledger.all().usage.map(\.received.bytes) == [1, 7])
    try ledger.clear()
    #expect(folder.names == others)
    #expect(try ledger.all().usage.isEmpty)
    ledger.add(ByteCount(5), transfers: 1, network: .cellular, metered: .yes)
    #expect(try ledger.all().usage.map(\.received.bytes) == [5])
  }
}
