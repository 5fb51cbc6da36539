import CSQLite

/// A connection to a SQLite database, for one thread at a time.
final class SQLiteConnection {
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  /// The one that was asked for last, as look-ups ask for the same again and again.
  private var latest: (sql: String, statement: SQLiteStatement)?

  /// How to open a database.
  enum Access {
    case write
    /// From a file system that nobody can write to, so that there are no locks to take.
    case immutable
  }

  /// Opens a database that is there; the file itself is first read by the first statement.
  init(path: String, access: Access) throws(SQLiteError) {
    var opened: OpaquePointer?
    // One thread at a time holds a connection, so that SQLite's own locks would be taken for nothing.
    let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result =
      switch access {
      case .write: sqlite3_open_v2(path, &opened, common | SQLITE_OPEN_READWRITE, nil)
      case .immutable:
        sqlite3_open_v2(
          Self.immutableURI(path),
          &opened,
          common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
          nil
        )
      }
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError(result, on: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(opened, Self.usualPatience)
  }

  /// Also what the first statement waits for: it finds the database locked for a moment whenever another process
  /// opens it first or closes it last (sqlite.org/wal.html §2.3).
  private static let usualPatience: Int32 = 5000

  deinit {
    latest = nil
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// The URI form of a path (sqlite.org/uri.html §3.3).
  private static func immutableURI(_ path: String) -> String {
    let escaped = path.utf8.map { byte -> String in
      let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + UInt64(byte).hexadecimal.suffix(2)
    }
    return "file:\(escaped.joined())?immutable=1"
  }

  /// How long to wait for another connection, in milliseconds.
  var patience = usualPatience {
    didSet { if patience != oldValue { sqlite3_busy_timeout(handle, patience) } }
  }

  /// Whether nothing can be written, for whatever reason.
  var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

  /// The rows that the last statement changed.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// Runs statements that give no rows and are needed once.
  func execute(_ sql: String) throws(SQLiteError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle) }
  }

  /// A statement, prepared when first needed; rewound and without values.
  func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    // The same literal is told from others without a look at its letters.
    if let latest, latest.sql == sql { return latest.statement }
    if let statement = statements[sql] {
      latest = (sql, statement)
      return statement
    }
    let statement = try SQLiteStatement(sql, on: handle)
    statements[sql] = statement
    latest = (sql, statement)
    return statement
  }

  /// Runs the body in a transaction that holds the right to write from its start; undone when it throws.
  func transaction<Answer>(_ body: () throws(SQLiteError) -> Answer) throws(SQLiteError) -> Answer {
    try statement("BEGIN IMMEDIATE").run()
    do throws(SQLiteError) {
      let answer = try body()
      try statement("COMMIT").run()
      return answer
    } catch {
      // Some errors have undone everything already; the connection is then as it should be.
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }
}
