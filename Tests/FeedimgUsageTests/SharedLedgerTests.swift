import FeedimgModel
import FoundationEssentials
import Glibc
import Testing

@testable import FeedimgUsage

/// Several processes that count at the same time, some of which are killed.
struct SharedLedgerTests {
  @Test func `the counts of several processes add up`() throws {
    let folder = try LedgerFolder()
    let workers = try (0..<4).map { _ in try Worker(folder, count: 250) }
    for worker in workers {
      while worker.readMark() {}
      #expect(worker.wait() == 0)
    }
    let usage = try UsageLedger(folder: folder.path) { 0 }.all().usage
    #expect(usage.reduce(0) { $0 + $1.transfers } == 1000)
    #expect(usage.reduce(0) { $0 + $1.received.bytes } == 1000 * 7)
  }

  @Test func `confirmed counts survive the kill of their process`() throws {
    let folder = try LedgerFolder()
    var (confirmed, rounds) = (0, 0)
    for marks in [0, 1, 2, 40, 450] {
      let workers = try (0..<3).map { _ in try Worker(folder, count: 0) }
      rounds += workers.count
      for worker in workers {
        for _ in 0..<marks where worker.readMark() { confirmed += 1 }
        worker.kill()
        // The counts that it confirmed before it was killed.
        while worker.readMark() { confirmed += 1 }
        #expect(worker.wait() == -SIGKILL)
      }
    }
    let ledger = UsageLedger(folder: folder.path) { 0 }
    let usage = try ledger.all().usage
    let transfers = usage.reduce(0) { $0 + $1.transfers }
    // Each may have been killed between the count and its confirmation.
    #expect(transfers >= confirmed && transfers <= confirmed + rounds)
    #expect(usage.reduce(0) { $0 + $1.received.bytes } == transfers * 7)
    #expect(ledger.takeWarnings().isEmpty)
  }
}

/// A process of its own, because a file size limit applies to a whole process.
struct FullDiskTests {
  @Test func `a full disk loses no count and is reported once`() throws {
    let folder = try LedgerFolder()
    #expect(try Worker(["full", folder.root]).wait() == 0)
  }
}

/// A process of its own, because a time zone applies to a whole process.
struct TimeZoneTests {
  @Test func `days are those of the current time zone`() throws {
    #expect(try Worker(["zones", "0"]).wait() == 0)
  }
}

/// A process that counts.
private final class Worker {
  private struct Failure: Error { let reason: Int32 }

  private let process: pid_t
  private let marks: Int32
  private var status: Int32?

  convenience init(_ folder: LedgerFolder, count: Int) throws {
    try self.init([folder.path, String(count)])
  }

  init(_ order: [String]) throws {
    var ends: [Int32] = [0, 0]
    // A socket, because one call here makes it close on exec.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(reason: errno) }
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
    guard reason == 0 else { throw Failure(reason: reason) }
    self.process = process
    marks = ends[0]
  }

  deinit {
    kill()
    wait()
    close(marks)
  }

  /// Whether it has counted once more.
  ///
  /// False if it has ended.
  func readMark() -> Bool {
    var mark: UInt8 = 0
    var count: Int
    repeat { count = read(marks, &mark, 1) } while count < 0 && errno == EINTR
    return count == 1
  }

  func kill() { if status == nil { Glibc.kill(process, SIGKILL) } }

  /// Whether it still runs.
  ///
  /// It is not waited for.
  var isRunning: Bool {
    var info = siginfo_t()
    return waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0
      && info._sifields._sigchld.si_pid == 0
  }

  /// The exit status, or minus the signal that ended it.
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
