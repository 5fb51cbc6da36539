import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc

/// One connection to `usage.sqlite`, which has a row for each day, network and metering.
///
/// Sendable although a connection serves one thread at a time: an idle one belongs to the ledger's state, under its lock,
/// and a borrowed one to the borrower's thread.
///
/// The database is in WAL mode, so that any number of processes read while one adds. A killed process loses no
/// committed row. With `synchronous=NORMAL` a power cut may lose the latest rows, and damages nothing.
final class UsageDatabase: @unchecked Sendable {
  /// Stored as `user_version`.
  private static let schema = 1
  /// Pages of the log before SQLite moves them into the database and waits for the disk.
  private static let checkpointPages = 100

  let connection: SQLiteConnection
  /// The file that the connection has open.
  let file: FileIdentity?

  /// Opens the database, and makes it if it does not exist; waits `busyTimeout` milliseconds for other processes.
  ///
  /// `file` is the file at the path; nil if there was none.
  ///
  /// - Throws: ``SQLiteError``, also for the schema of a later version.
  init(path: String, _ file: FileIdentity?, busyTimeout: Int32) throws(SQLiteError) {
    let isNew = access(path, F_OK) != 0
    connection = try SQLiteConnection(path: path, access: .create)
    // SQLite gives the files beside the database the mode of the database.
    if isNew { chmod(path, 0o600) }
    self.file = file ?? (try? FileIdentity(path))
    connection.busyTimeout = busyTimeout
    let version = try connection.number("PRAGMA user_version")
    guard version <= Self.schema else { throw .newer(version, known: Self.schema) }
    if version == 0 { try make() }
    try connection.execute(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = \(Self.checkpointPages); PRAGMA secure_delete = ON"
    )
  }

  private func make() throws(SQLiteError) {
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.transaction { () throws(SQLiteError) in
      // Another process may have made them meanwhile.
      try connection.execute(
        """
        CREATE TABLE IF NOT EXISTS usage (
          day TEXT NOT NULL, network TEXT NOT NULL, price TEXT NOT NULL,
          bytes INTEGER NOT NULL, transfers INTEGER NOT NULL,
          PRIMARY KEY (day, network, price)
        ) STRICT, WITHOUT ROWID;
        PRAGMA user_version = \(Self.schema)
        """
      )
    }
  }

  // MARK: Counts

  /// Adds counts, all or none; a sum stops at the largest number.
  func add(_ usage: [NetworkUsage]) throws(SQLiteError) {
    try connection.transaction { () throws(SQLiteError) in
      for usage in usage {
        try connection.statement(Self.addition).run([
          .string(usage.day.description), .string(usage.network.rawValue), .string(usage.metered.word),
          .integer(usage.received.bytes), .integer(usage.transfers),
        ])
      }
    }
  }

  // SQLite would turn a sum that is too great into a floating-point number.
  private static let addition = """
    INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET
      bytes = iif(bytes > \(Int.max) - excluded.bytes, \(Int.max), bytes + excluded.bytes),
      transfers = iif(transfers > \(Int.max) - excluded.transfers, \(Int.max), transfers + excluded.transfers)
    """

  /// The counts of some days or all, in no order.
  ///
  /// - Returns: Also how many rows have values that this version does not know; they count nothing.
  func usage(
    on days: ClosedRange<CalendarDay>?
  ) throws(SQLiteError) -> (usage: [NetworkUsage], unreadableCount: Int) {
    var usage: [NetworkUsage] = []
    var unreadableCount = 0
    // Days sort as text.
    let (first, last) = (days?.lowerBound.description ?? "", days?.upperBound.description ?? "\u{FFFF}")
    try connection.statement(
      "SELECT day, network, price, bytes, transfers FROM usage WHERE day BETWEEN ?1 AND ?2"
    )
    .forEachRow([.string(first), .string(last)]) { row in
      if let row = NetworkUsage(row) { usage.append(row) } else { unreadableCount += 1 }
      return true
    }
    return (usage, unreadableCount)
  }

  /// Removes all counts.
  func clear() throws(SQLiteError) {
    try connection.transaction { () throws(SQLiteError) in try connection.execute("DELETE FROM usage") }
    // The log has no copy of them afterwards, unless another process reads now.
    try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

extension NetworkUsage {
  /// A row of the database; nil for values that this version does not know.
  fileprivate init?(_ row: SQLiteRow) {
    guard let day = CalendarDay(row.string(0)), let network = NetworkKind(rawValue: row.string(1)),
      let metered = Metered(word: row.string(2))
    else { return nil }
    self.init(
      day: day,
      network: network,
      metered: metered,
      received: ByteCount(row.integer(3)),
      transfers: row.integer(4)
    )
  }
}
