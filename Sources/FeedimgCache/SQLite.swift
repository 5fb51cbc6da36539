import CSQLite
import Glibc

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

  /// Finalizes all statements, as some of them may stand in the way of a change of the schema.
  func forgetStatements() {
    latest = nil
    statements.removeAll()
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

/// A prepared statement, for the thread that holds its connection.
final class SQLiteStatement {
  /// A value to be put in place of a question mark.
  enum Value {
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
  func forEachRow(
    _ values: [Value] = [],
    _ body: (SQLiteRow) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    // The statement lets go of its locks whichever way this ends; an error has been reported by then.
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

  func run(_ values: [Value] = []) throws(SQLiteError) { try forEachRow(values) { _ in true } }

  /// What the body makes of the first row; nil where there is none.
  func first<Answer>(_ values: [Value] = [], _ body: (SQLiteRow) -> Answer) throws(SQLiteError) -> Answer? {
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
    // SQLITE_TRANSIENT, whose cast the importer leaves out: SQLite keeps its own copy.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    // A null pointer would stand for null, which an empty text is not.
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
      return sqlite3_bind_text64(handle, index, "", 0, transient, UInt8(SQLITE_UTF8))
    }
    return sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
  }
}

/// The row that a statement stands at; valid within the closure that it was given to.
struct SQLiteRow {
  let handle: OpaquePointer

  /// Zero for what is no number.
  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// The bytes of a text, as it is stored; empty for null.
  func withText<Answer>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    let start = sqlite3_column_blob(handle, column)
    // The length must be asked for after the pointer, as asking may convert the value.
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  func string(_ column: Int32) -> String { withText(column) { String(decoding: $0, as: UTF8.self) } }

  /// Whether a column holds this text.
  func isText(_ column: Int32, _ text: String) -> Bool {
    var text = text
    return withText(column) { stored in
      text.withUTF8 { $0.count == stored.count && stored.elementsEqual($0) }
    }
  }
}

/// A call of SQLite that failed.
struct SQLiteError: Error, Hashable {
  /// The extended result code (sqlite.org/rescode.html).
  let code: Int32
  /// In SQLite's words.
  let message: String
  /// The system's number for the reason (errno), or zero.
  let reason: Int32

  init(code: Int32, message: String, reason: Int32 = 0) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// Must be made before another call on the connection.
  init(_ code: Int32, on connection: OpaquePointer?) {
    guard let connection else {
      self.init(code: code, message: String(cString: sqlite3_errstr(code)))
      return
    }
    let extended = sqlite3_extended_errcode(connection)
    self.init(
      // SQLite forgets a code where the next statement was fine; the caller's is then the better one.
      code: extended & 0xFF == code & 0xFF ? extended : code,
      message: String(cString: sqlite3_errmsg(connection)),
      reason: sqlite3_system_errno(connection)
    )
  }

  /// There is no room on the disk.
  static let full = SQLiteError(code: SQLITE_FULL, message: String(cString: sqlite3_errstr(SQLITE_FULL)))

  /// A later version of this program has changed the schema; what it made is not ours to judge.
  static func newer(_ version: Int) -> SQLiteError {
    SQLiteError(
      code: SQLITE_SCHEMA,
      message: "it has schema \(version) of a later version, and this one knows schema \(IndexSchema.version)"
    )
  }

  /// An earlier version has made the schema, which cannot be changed.
  static let outdated = SQLiteError(
    code: SQLITE_READONLY,
    message: "an earlier version made it, and it cannot be written"
  )

  private var primary: Int32 { code & 0xFF }

  /// Whether the file holds something else than we wrote, so that only a new one helps.
  ///
  /// A plain error is one of these: every statement is right for our own schema.
  var isDamage: Bool {
    [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_FORMAT]
      .contains(primary)
  }

  /// Whether another connection is in the way.
  var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }

  /// Whether there was no room to open it for writing, as even those who only read need some beside it.
  var isDiskFull: Bool {
    primary == SQLITE_FULL
      || [SQLITE_CANTOPEN, SQLITE_IOERR].contains(primary) && [ENOSPC, EDQUOT].contains(reason)
  }

  /// Whether the file could not be opened for writing.
  var isUnwritable: Bool { [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM].contains(primary) }
}

extension SQLiteError: CustomStringConvertible {
  var description: String {
    if isBusy { return "it is locked by another process" }
    if primary == SQLITE_FULL { return FileFault.words(for: ENOSPC) }
    let reasoned = [SQLITE_CANTOPEN, SQLITE_IOERR].contains(primary) && reason != 0
    return reasoned ? FileFault.words(for: reason) : message
  }
}

/// The SQLite that keeps the index of the cache.
package enum SQLiteVersion {
  /// Such as `3.40.1`.
  package static var text: String { String(cString: sqlite3_libversion()) }
}
