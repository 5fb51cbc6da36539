import CSQLite
import Glibc

/// A failed call of SQLite.
package struct SQLiteError: Error, Hashable {
  /// The extended result code (sqlite.org/rescode.html).
  package let code: Int32
  /// In SQLite's words.
  package let message: String
  /// The system's error number (errno), or zero.
  package let reason: Int32

  package init(code: Int32, message: String, reason: Int32 = 0) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// Reads the connection's latest error, so it must run before another call on that connection.
  init(_ code: Int32, on connection: OpaquePointer?) {
    guard let connection else {
      self.init(code: code, message: String(cString: sqlite3_errstr(code)))
      return
    }
    let extended = sqlite3_extended_errcode(connection)
    self.init(
      // A later successful statement resets the connection's code; then the caller's code is the right one.
      code: extended & 0xFF == code & 0xFF ? extended : code,
      message: String(cString: sqlite3_errmsg(connection)),
      reason: sqlite3_system_errno(connection)
    )
  }

  /// The disk is full.
  package static let full = SQLiteError(
    code: SQLITE_FULL,
    message: String(cString: sqlite3_errstr(SQLITE_FULL))
  )

  /// A later version of this program has changed the schema.
  package static func newer(_ version: Int, known: Int) -> SQLiteError {
    SQLiteError(
      code: SQLITE_SCHEMA,
      message: "it has schema \(version) of a later version, and this one knows schema \(known)"
    )
  }

  /// An earlier version has made the schema, which needs a change, and the file cannot be written.
  package static let outdated = SQLiteError(
    code: SQLITE_READONLY,
    message: "an earlier version made it, and it cannot be written"
  )

  private var primary: Int32 { code & 0xFF }

  /// Whether the file holds other content than this program wrote, so that only a new file helps.
  ///
  /// `SQLITE_ERROR` is one of these codes: every statement is right for our own schema.
  package var isDamage: Bool {
    [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_FORMAT]
      .contains(primary)
  }

  /// Whether another connection holds the lock.
  package var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }

  /// Whether the disk had no room to open the database for writing; readers need some room beside it as well.
  package var isDiskFull: Bool {
    primary == SQLITE_FULL
      || [SQLITE_CANTOPEN, SQLITE_IOERR].contains(primary) && [ENOSPC, EDQUOT].contains(reason)
  }

  /// Whether the file could not be opened for writing.
  package var isUnwritable: Bool { [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM].contains(primary) }
}

extension SQLiteError: CustomStringConvertible {
  package var description: String {
    if isBusy { return "it is locked by another process" }
    if primary == SQLITE_FULL { return Self.words(for: ENOSPC) }
    let isSystems = [SQLITE_CANTOPEN, SQLITE_IOERR].contains(primary) && reason != 0
    return isSystems ? Self.words(for: reason) : message
  }

  /// The system's words for an error number, as they read within a sentence.
  private static func words(for reason: Int32) -> String {
    let words = String(cString: strerror(reason))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}

/// The SQLite library that this process uses.
package enum SQLiteVersion {
  /// Such as `3.40.1`.
  package static var text: String { String(cString: sqlite3_libversion()) }
}
