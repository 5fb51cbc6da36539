import CSQLite

/// The SQLite that keeps the index of the cache.
package enum SQLiteVersion {
  /// Such as `3.40.1`.
  package static var text: String { String(cString: sqlite3_libversion()) }
}
