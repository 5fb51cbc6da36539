import CSQLite
import Glibc

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
  var isForWantOfRoom: Bool {
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
