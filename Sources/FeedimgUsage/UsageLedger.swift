package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc
import Synchronization

/// Counts received data in a database that several processes share.
///
/// Nothing is opened before the first count or the first query.
package final class UsageLedger: UsageKeeping {
  private struct State {
    /// Counts that are not on disk yet.
    var unwritten: [NetworkUsage] = []
    var idle: UsageDatabase?
    /// The latest value of the database, for a time when it cannot be read.
    var latest: (days: ClosedRange<CalendarDay>, usage: [NetworkUsage])?
    var isFaultReported = false
    var isGapReported = false
    var warnings: [String] = []
  }

  /// The longest waits for other processes, in milliseconds.
  ///
  /// `adding` applies during transfers. `reading` applies to queries, and at the end of the program. `clearing` applies
  /// when counts are removed, and when a damaged database is renamed.
  private static let busyTimeouts: (adding: Int32, reading: Int32, clearing: Int32) = (10, 250, 1000)

  private let folder: String
  private let path: String
  private let clock: @Sendable () -> Double
  /// Guards the counts in memory and the idle connection; no file is touched under it.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: The folder of the database; it need not exist.
  ///   - clock: Seconds since 1970.
  package init(folder: String, clock: @escaping @Sendable () -> Double) {
    self.folder = folder
    self.clock = clock
    path = "\(folder)/usage.sqlite"
  }

  package func today() -> CalendarDay { LocalCalendar.day(at: clock()) }

  package func takeWarnings() -> [String] {
    state.withLock { state in
      defer { state.warnings = [] }
      return state.warnings
    }
  }

  // MARK: Writing

  package func add(_ received: ByteCount, transfers: Int, network: NetworkKind, metered: Metered) {
    let usage = NetworkUsage(
      day: today(),
      // Offline means that no path was known; some network has carried the bytes all the same.
      network: network == .offline ? .other : network,
      metered: metered,
      received: received,
      transfers: transfers
    )
    state.withLock { $0.unwritten.add([usage]) }
  }

  package func write() { write(within: Self.busyTimeouts.adding) }

  @discardableResult package func flush() -> Bool {
    write(within: Self.busyTimeouts.reading)
    return state.withLock { $0.unwritten.isEmpty }
  }

  private func write(within busyTimeout: Int32) {
    let usage = state.withLock { state in
      defer { state.unwritten = [] }
      return state.unwritten
    }
    guard !usage.isEmpty else { return }
    do throws(UsageLedgerError) {
      _ = try withDatabase("write", makes: true, within: busyTimeout) { database throws(SQLiteError) in
        try database.add(usage)
      }
    } catch {
      state.withLock { state in
        state.unwritten.add(usage)
        // While another process writes, these counts wait for the next.
        guard !error.isBusy, !state.isFaultReported else { return }
        state.isFaultReported = true
        state.warnings.append("usage is counted in memory alone: \(error)")
      }
    }
  }

  /// Removes all counts.
  ///
  /// - Throws: ``UsageLedgerError``; some counts may be gone then.
  package func clear() throws(UsageLedgerError) {
    state.withLock { ($0.unwritten, $0.latest) = ([], nil) }
    _ = try withDatabase("clear", makes: false, within: Self.busyTimeouts.clearing) {
      database throws(SQLiteError) in try database.clear()
    }
    for ending in Self.endings {
      guard unlink(damagedPath + ending) == 0 || errno == ENOENT || errno == ENOTDIR else {
        throw UsageLedgerError(FileError("remove", damagedPath + ending))
      }
    }
  }

  // MARK: Reading

  package func usage(on days: ClosedRange<CalendarDay>) -> (usage: [NetworkUsage], gap: String?) {
    do throws(UsageLedgerError) {
      let written = try written(on: days)
      return (addingUnwritten(to: written, on: days), nil)
    } catch {
      let words = error.description
      state.withLock { state in
        guard !state.isGapReported else { return }
        state.isGapReported = true
        state.warnings.append("the cellular-budget counts as spent: \(words)")
      }
      return (addingUnwritten(to: [], on: days), words)
    }
  }

  /// The counts of all days, and how many counts could not be read.
  ///
  /// - Throws: ``UsageLedgerError`` where the database cannot be read.
  package func all() throws(UsageLedgerError) -> (usage: [NetworkUsage], unreadableCount: Int) {
    let read = try read(nil)
    return (addingUnwritten(to: read?.usage ?? [], on: nil), read?.unreadableCount ?? 0)
  }

  /// The counts on disk and in memory, of some days or all, in order.
  ///
  /// Read the disk first, so that no count appears twice if it is written meanwhile.
  private func addingUnwritten(
    to written: [NetworkUsage],
    on days: ClosedRange<CalendarDay>?
  ) -> [NetworkUsage] {
    let unwritten = state.withLock { $0.unwritten }
    var sums = written
    sums.add(unwritten.filter { days?.contains($0.day) ?? true })
    return sums.inOrder
  }

  /// The counts on disk; the latest ones where they cannot be read any longer.
  private func written(on days: ClosedRange<CalendarDay>) throws(UsageLedgerError) -> [NetworkUsage] {
    do throws(UsageLedgerError) {
      let usage = try read(days)?.usage ?? []
      state.withLock { $0.latest = (days, usage) }
      return usage
    } catch {
      let latest = state.withLock { $0.latest }
      guard let latest, latest.days == days else { throw error }
      return latest.usage
    }
  }

  /// The counts on disk of some days or all, in no order; nil without a database.
  private func read(
    _ days: ClosedRange<CalendarDay>?
  ) throws(UsageLedgerError) -> (usage: [NetworkUsage], unreadableCount: Int)? {
    try withDatabase("read", makes: false, within: Self.busyTimeouts.reading) {
      database throws(SQLiteError) in
      try database.usage(on: days)
    }
  }

  // MARK: The database

  /// Runs the body with a connection; nil if there is no database and `makes` is false.
  ///
  /// A damaged database is set aside, with a warning, and the body runs again on a new one.
  private func withDatabase<Value>(
    _ operation: String,
    makes: Bool,
    within busyTimeout: Int32,
    _ body: (UsageDatabase) throws(SQLiteError) -> Value
  ) throws(UsageLedgerError) -> Value? {
    var isSecond = false
    while true {
      let file = try UsageLedgerError.ofFiles { () throws(FileError) in
        let file = try FileIdentity(path)
        if file == nil, makes { try FilePath.makeFolder(folder) }
        return file
      }
      guard makes || file != nil else { return nil }
      do throws(SQLiteError) {
        let database = try borrow(file, busyTimeout)
        do throws(SQLiteError) {
          let value = try body(database)
          giveBack(database)
          return value
        } catch {
          if error.isBusy { giveBack(database) }
          throw error
        }
      } catch {
        guard error.isDamage, let file, !isSecond else { throw UsageLedgerError(operation, path, error) }
        try renameDamaged(file)
        isSecond = true
      }
    }
  }

  private func borrow(_ file: FileIdentity?, _ busyTimeout: Int32) throws(SQLiteError) -> UsageDatabase {
    if let idle = state.withLock({ $0.idle.take() }), idle.file == file {
      idle.connection.busyTimeout = busyTimeout
      return idle
    }
    return try UsageDatabase(path: path, file, busyTimeout: busyTimeout)
  }

  private func giveBack(_ database: UsageDatabase) {
    // A second connection is closed outside the lock.
    let other = state.withLock { state in
      defer { state.idle = database }
      return state.idle
    }
    _ = consume other
  }

  /// SQLite's files: the database, its log, and the index of the log.
  private static let endings = ["", "-wal", "-shm"]

  private var damagedPath: String { "\(path).damaged" }

  /// Renames a damaged database, in place of an earlier one, unless another process has done so already.
  private func renameDamaged(_ damaged: FileIdentity) throws(UsageLedgerError) {
    let isRenamed = try UsageLedgerError.ofFiles { () throws(FileError) in
      let lock = try FileLock("\(folder)/.lock", within: .milliseconds(Self.busyTimeouts.clearing))
      defer { withExtendedLifetime(lock) {} }
      guard try FileIdentity(path) == damaged else { return false }
      for ending in Self.endings {
        guard rename(path + ending, damagedPath + ending) == 0 || errno == ENOENT else {
          throw FileError("set aside", path + ending)
        }
      }
      return true
    }
    guard isRenamed else { return }
    state.withLock { state in
      state.latest = nil
      state.warnings.append(
        "the usage ledger `\(path)` is damaged: it was renamed to `\(damagedPath)`, and counting starts at zero"
      )
    }
  }
}

/// A failed access to the ledger.
package struct UsageLedgerError: Error, Hashable, CustomStringConvertible {
  package let description: String
  /// Whether another process holds a lock, so that a later try may succeed.
  let isBusy: Bool

  init(_ fault: FileError) {
    description = fault.description
    isBusy = fault.reason == EWOULDBLOCK
  }

  init(_ operation: String, _ path: String, _ error: SQLiteError) {
    description = "cannot \(operation) `\(path)`: \(error)"
    isBusy = error.isBusy
  }

  static func ofFiles<Value>(_ body: () throws(FileError) -> Value) throws(UsageLedgerError) -> Value {
    do throws(FileError) { return try body() } catch { throw UsageLedgerError(error) }
  }
}
