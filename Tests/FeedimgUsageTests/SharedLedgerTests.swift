import FeedimgModel
import FoundationEssentials
import Glibc
import Testing

@testable import FeedimgUsage

/// Several processes that count at the same time, some of which are killed.
struct SharedLedgerTests {
  @Test func `several processes add up, while the file is compacted under them`() throws {
    let folder = try LedgerFolder()
    let workers = try (0..<4).map { _ in try Worker(folder, count: 250) }
    let file = LedgerFile(folder: folder.path, month: LocalCalendar.month)
    var compactions = 0
    // Each reads to the end of what the worker says, so that all of it overlaps with compactions.
    for worker in workers {
      while worker.readMark() { if try file.compact() != nil { compactions += 1 } }
      #expect(worker.wait() == 0)
    }
    let usage = try UsageLedger(folder: folder.path) { 0 }.all().usage
    #expect(usage.reduce(0) { $0 + $1.transfers } == 1000)
    #expect(usage.reduce(0) { $0 + $1.received.bytes } == 1000 * 7)
    #expect(compactions > 0)
  }

  @Test func `what was counted before a process is killed is kept, whatever it was doing`() throws {
    let folder = try LedgerFolder()
    let file = LedgerFile(folder: folder.path, month: LocalCalendar.month)
    var (confirmed, rounds) = (0, 0)
    for marks in [1, 2, 40, 450] {
      let workers = try (0..<3).map { _ in try Worker(folder, count: 0) }
      rounds += workers.count
      for worker in workers {
        for _ in 0..<marks where worker.readMark() { confirmed += 1 }
        _ = try? file.compact()
        worker.kill()
        // What it has said before it died.
        while worker.readMark() { confirmed += 1 }
        #expect(worker.wait() == -SIGKILL)
      }
    }
    let (usage, foreignLineCount) = try UsageLedger(folder: folder.path) { 0 }.all()
    let transfers = usage.reduce(0) { $0 + $1.transfers }
    // Each may have died between the line and the word.
    #expect(transfers >= confirmed && transfers <= confirmed + rounds)
    #expect(usage.reduce(0) { $0 + $1.received.bytes } == transfers * 7)
    #expect(foreignLineCount == 0)
  }

  @Test func `a compaction that is killed at any moment loses nothing`() throws {
    let folder = try LedgerFolder()
    let month = LocalCalendar.month
    let line = "\(month)-01 wifi unmetered 3 1\n"
    try folder.write(String(repeating: line, count: 3000), to: "\(month).txt")
    var confirmed = 0
    for _ in 0..<10 {
      // Its file is long, so the first count of each starts a compaction.
      let worker = try Worker(folder, count: 0)
      if worker.readMark() { confirmed += 1 }
      worker.kill()
      while worker.readMark() { confirmed += 1 }
      worker.wait()
    }
    let usage = try UsageLedger(folder: folder.path) { 0 }.all().usage
    #expect(usage.filter { $0.network == .wifi }.map(\.received.bytes) == [9000])
    let counted = usage.filter { $0.network == .cellular }.reduce(0) { $0 + $1.transfers }
    #expect(counted >= confirmed && counted <= confirmed + 10)
  }
}

/// A process of its own, as the length that its files may have is that of all of it.
struct FullDiskTests {
  @Test func `what a full disk has torn counts once, and that it is full is said once`() throws {
    let folder = try LedgerFolder()
    #expect(try Worker(["full", folder.root]).wait() == 0)
  }
}

/// A process of its own, as its time zone is that of all of it.
struct TimeZoneTests {
  @Test func `days are those of the time zone that holds now`() throws {
    #expect(try Worker(["zones", "0"]).wait() == 0)
  }
}

extension LocalCalendar {
  fileprivate static var month: String { day(at: Double(time(nil))).monthText }
}

/// A process that counts.
private final class Worker {
  private let process: pid_t
  private let marks: Int32
  private var status: Int32?

  convenience init(_ folder: LedgerFolder, count: Int) throws {
    try self.init([folder.path, String(count)])
  }

  init(_ order: [String]) throws {
    var ends: [Int32] = [0, 0]
    // A socket, since it alone can be made closed on exec in one call here.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw UsageFault("open", "a pipe") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    let words: [String] = [Self.program] + order
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let reason = posix_spawn(&process, Self.program, &actions, nil, &arguments, environ)
    close(ends[1])
    guard reason == 0 else { throw UsageFault("run", Self.program, reason: reason) }
    self.process = process
    marks = ends[0]
  }

  deinit {
    kill()
    wait()
    close(marks)
  }

  /// Whether it has counted once more; false when it will no more.
  func readMark() -> Bool {
    var mark: UInt8 = 0
    var count: Int
    repeat { count = read(marks, &mark, 1) } while count < 0 && errno == EINTR
    return count == 1
  }

  func kill() { if status == nil { Glibc.kill(process, SIGKILL) } }

  /// The status that it gave, or minus the signal that ended it.
  @discardableResult func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(process, &raw, 0) < 0, errno == EINTR {}
    let ended = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -(raw & 0x7F)
    status = ended
    return ended
  }

  /// Built beside the tests.
  private static let program: String = {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    let tests = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return (tests.lastIndex(of: "/").map { String(tests[...$0]) } ?? "") + "UsageWorker"
  }()
}
