import CSQLite
import Glibc

/// A failed call of SQLite.
package struct SQLiteError: Error, Hashable {
  /// The extended result code (sqlite.org/rescode.html).
  package let code: Int32
  /// SQLite's error text.
  package let message: String
  /// The `errno` of the system call that failed, or zero.
  package let reason: Int32

  package init(code: Int32, message: String, reason: Int32 = 0) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// Reads the connection's latest error; no other call on that connection may come before.
  init(_ code: Int32, on connection: OpaquePointer?) {
    guard let connection else {
      self.init(code: code, message: String(cString: sqlite3_errstr(code)))
      return
    }
    let extended = sqlite3_extended_errcode(connection)
    self.init(
      // A later successful call resets the connection's code; the caller's code is then the right one.
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

  /// The error for a schema that a later version of this program has changed.
  package static func newer(_ version: Int, known: Int) -> SQLiteError {
    SQLiteError(
      code: SQLITE_SCHEMA,
      message: "a later version made it (schema \(version)); this version supports schema \(known)"
    )
  }

  /// The error for a schema of an earlier version, which is replaced like a damaged file.
  package static let outdated = SQLiteError(code: SQLITE_FORMAT, message: "an earlier version made it")

  private var primary: Int32 { code & 0xFF }

  /// Whether the file is damaged or not this program's, so that it must be replaced.
  ///
  /// `SQLITE_ERROR` is one of these codes, because all statements are correct for the program's own schema.
  package var isDamage: Bool {
    [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_FORMAT]
      .contains(primary)
  }

  /// Whether another connection holds the lock.
  package var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }

  /// Whether the disk is full; even readers need some space beside the database.
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

  /// The system's text for an `errno`, in lower case at its start.
  private static func words(for reason: Int32) -> String {
    let words = String(cString: strerror(reason))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}

/// The version of the SQLite library.
package enum SQLiteVersion {
  /// The version, such as `3.40.1`.
  package static var text: String { String(cString: sqlite3_libversion()) }
}
