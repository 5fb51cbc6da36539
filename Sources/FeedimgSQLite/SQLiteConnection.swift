import CSQLite

/// A connection to a SQLite database, for one thread at a time.
package final class SQLiteConnection {
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  /// The statement that ran last, because look-ups run the same one again and again.
  private var latest: (sql: String, statement: SQLiteStatement)?

  /// How to open a database.
  package enum Access {
    /// To read and write a database that exists.
    case write
    /// To read and write a database, which is made if it does not exist.
    case create
    /// To read from a file system without write access, without locks.
    case immutable
  }

  /// Opens a database; the first statement is the first to read the file.
  package init(path: String, access: Access) throws(SQLiteError) {
    var opened: OpaquePointer?
    // One thread at a time holds a connection, which therefore needs none of SQLite's own locks.
    let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result =
      switch access {
      case .write: sqlite3_open_v2(path, &opened, common | SQLITE_OPEN_READWRITE, nil)
      case .create:
        sqlite3_open_v2(path, &opened, common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
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

  /// The first statement waits as long: another process locks the database while it opens it first or closes it last
  /// (sqlite.org/wal.html §2.3).
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
      return isPlain ? String(UnicodeScalar(byte)) : "%" + String(256 + Int(byte), radix: 16).suffix(2)
    }
    return "file:\(escaped.joined())?immutable=1"
  }

  /// How long to wait for another connection, in milliseconds.
  package var patience = usualPatience {
    didSet { if patience != oldValue { sqlite3_busy_timeout(handle, patience) } }
  }

  /// Whether the database cannot be written.
  package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

  /// The rows that the last statement changed.
  package var changes: Int { Int(sqlite3_changes(handle)) }

  /// Runs statements that give no rows and run once.
  package func execute(_ sql: String) throws(SQLiteError) {
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle) }
  }

  /// A statement, prepared at its first use; rewound and without values.
  package func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    // Equal literals compare by address first.
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

  /// Finalizes all statements, because an open statement can block a change of the schema.
  package func forgetStatements() {
    latest = nil
    statements.removeAll()
  }

  /// Runs the body in a transaction that holds the write lock from its start, and rolls it back when the body throws.
  package func transaction<Answer>(_ body: () throws(SQLiteError) -> Answer) throws(SQLiteError) -> Answer {
    try statement("BEGIN IMMEDIATE").run()
    do throws(SQLiteError) {
      let answer = try body()
      try statement("COMMIT").run()
      return answer
    } catch {
      // Some errors have rolled back already.
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }
}

// MARK: Statements

/// A prepared statement, for the thread that holds its connection.
package final class SQLiteStatement {
  /// A value for a question mark.
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

  /// Runs the statement and gives each row to the body, until that returns false.
  package func forEachRow(
    _ values: [Value] = [],
    _ body: (SQLiteRow) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    // Releases the locks of the statement however this ends; an error has been reported by then.
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

  /// The body's value for the first row; nil for no rows.
  package func first<Answer>(
    _ values: [Value] = [],
    _ body: (SQLiteRow) -> Answer
  ) throws(SQLiteError) -> Answer? {
    var answer: Answer?
    try forEachRow(values) { row in
      answer = body(row)
      return false
    }
    return answer
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
    // SQLITE_TRANSIENT, a cast that the importer leaves out: SQLite keeps its own copy.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // A null pointer would bind null instead of an empty text.
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
      return sqlite3_bind_text64(handle, index, "", 0, transient, UInt8(SQLITE_UTF8))
    }
    return sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
  }
}

/// The current row of a statement; valid within the closure that receives it.
package struct SQLiteRow {
  let handle: OpaquePointer

  /// A number; zero for any other value.
  package func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// The bytes of a text, as it is stored; empty for null.
  package func withText<Answer>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    let start = sqlite3_column_blob(handle, column)
    // In this order: reading the pointer may convert the value, which changes the length.
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  package func string(_ column: Int32) -> String { withText(column) { String(decoding: $0, as: UTF8.self) } }

  /// Whether a column holds this text.
  package func isText(_ column: Int32, _ text: String) -> Bool {
    var text = text
    return withText(column) { stored in
      text.withUTF8 { $0.count == stored.count && stored.elementsEqual($0) }
    }
  }
}
