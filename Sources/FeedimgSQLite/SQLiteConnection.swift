import CSQLite

/// A connection to a SQLite database, for one thread at a time.
package final class SQLiteConnection {
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]

  /// The access to a database.
  package enum Access {
    /// Reads and writes an existing database.
    case write
    /// Reads and writes a database, and creates it if it does not exist.
    case create
    /// Reads without locks, from a file system without write access.
    case immutable
  }

  /// Opens a database; SQLite reads the file only at the first statement.
  package init(path: String, access: Access) throws(SQLiteError) {
    var opened: OpaquePointer?
    // Only one thread at a time uses a connection, so SQLite's own locks are not needed.
    let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result =
      switch access {
      case .write: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READWRITE, nil)
      case .create: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
      case .immutable:
        sqlite3_open_v2(Self.immutableURI(path), &opened, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
      }
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError(result, on: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(opened, Self.defaultBusyTimeout)
  }

  /// The default of ``busyTimeout``.
  ///
  /// Even the first statement may have to wait: the first process that opens a database locks it, and so does
  /// the last one that closes it (sqlite.org/wal.html §2.3).
  private static let defaultBusyTimeout: Int32 = 5000

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// The URI form of a path (sqlite.org/uri.html §3.3).
  private static func immutableURI(_ path: String) -> String {
    let escaped = path.utf8.map { byte -> String in
      let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + String(256 + Int(byte), radix: 16).suffix(2)
    }
    return "file:\(escaped.joined())?immutable=1"
  }

  /// The longest wait for a lock of another connection, in milliseconds.
  package var busyTimeout = defaultBusyTimeout {
    didSet { if busyTimeout != oldValue { sqlite3_busy_timeout(handle, busyTimeout) } }
  }

  /// Whether the database cannot be written.
  package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

  /// The number of rows that the last statement changed.
  package var changes: Int { Int(sqlite3_changes(handle)) }

  /// Runs statements once, without preparing them for later and without reading rows.
  package func execute(_ sql: String) throws(SQLiteError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle) }
  }

  /// A statement that is prepared at its first use; it is reset.
  package func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    let statement = try SQLiteStatement(sql, on: handle)
    statements[sql] = statement
    return statement
  }

  /// The number in the first column of the first row; zero without rows.
  package func number(_ sql: String) throws(SQLiteError) -> Int {
    try statement(sql).first { $0.integer(0) } ?? 0
  }

  /// Runs the body in a transaction with the write lock; rolls the transaction back if the body throws.
  package func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    try transaction("BEGIN IMMEDIATE", body)
  }

  /// Runs a body that only reads; all its statements see the same rows, and the database is locked once for them.
  package func snapshot<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    try transaction("BEGIN", body)
  }

  private func transaction<Result>(
    _ beginning: String,
    _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try statement(beginning).run()
    do throws(SQLiteError) {
      let result = try body()
      try statement("COMMIT").run()
      return result
    } catch {
      // After some errors, SQLite has already rolled back.
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }
}

// MARK: Statements

/// A prepared statement, for the thread that uses its connection.
package final class SQLiteStatement {
  /// A value for a parameter (`?`).
  package enum Value {
    case integer(Int)
    case text([UInt8])
    case string(String)
  }

  private let handle: OpaquePointer
  private let connection: OpaquePointer

  init(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let result = sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil)
    guard result == SQLITE_OK, let prepared else { throw SQLiteError(result, on: connection) }
    handle = prepared
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs the statement and passes each row to the body until the body returns false.
  package func forEachRow(
    _ values: [Value] = [],
    _ body: (SQLiteRow) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    // Releases the statement's locks. The result repeats the error of the last step.
    defer { sqlite3_reset(handle) }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: if try !body(SQLiteRow(handle: handle)) { return }
      case SQLITE_DONE: return
      case let result: throw SQLiteError(result, on: connection)
      }
    }
  }

  package func run(_ values: [Value] = []) throws(SQLiteError) { try forEachRow(values) { _ in true } }

  /// The body's result for the first row; nil if there is no row.
  package func first<Result>(
    _ values: [Value] = [],
    _ body: (SQLiteRow) -> Result
  ) throws(SQLiteError) -> Result? {
    var result: Result?
    try forEachRow(values) { row in
      result = body(row)
      return false
    }
    return result
  }

  private func bind(_ value: Value, at index: Int32) throws(SQLiteError) {
    let result =
      switch value {
      case .integer(let number): sqlite3_bind_int64(handle, index, Int64(number))
      case .text(let bytes): bytes.withUnsafeBytes { bindText($0, at: index) }
      case .string(var string): string.withUTF8 { bindText(UnsafeRawBufferPointer($0), at: index) }
      }
    guard result == SQLITE_OK else { throw SQLiteError(result, on: connection) }
  }

  private func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
    // SQLITE_TRANSIENT makes SQLite copy the text. Swift does not import this macro.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // A null pointer would bind NULL instead of an empty text.
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
      return sqlite3_bind_text64(handle, index, "", 0, transient, UInt8(SQLITE_UTF8))
    }
    return sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
  }
}

/// The current row of a statement; valid within the closure that receives it.
package struct SQLiteRow {
  let handle: OpaquePointer

  /// The number in a column; zero if the column holds no number.
  package func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// The stored bytes of a text; empty for NULL.
  package func withText<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = sqlite3_column_blob(handle, column)
    // Read the pointer first: this may convert the value and change its length.
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  package func string(_ column: Int32) -> String { withText(column) { String(decoding: $0, as: UTF8.self) } }
}
