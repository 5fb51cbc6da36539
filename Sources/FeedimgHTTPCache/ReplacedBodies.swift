import FeedimgModel
import FeedimgSQLite

/// Bodies that a new version has replaced.
///
/// They stay for a while, because programs know their paths. Their bytes count in the budget of their role, of which they
/// take at most an eighth.
extension CacheIndex {
  /// Keeps the body of an entry whose row is removed.
  ///
  /// - Returns: The bodies to remove instead, perhaps that of `record`.
  func keepReplaced(
    _ record: EntryRecord,
    within limits: CacheLimits,
    now: Int
  ) throws(SQLiteError) -> Removal {
    let budget = Budget(record.role)
    let limit = limits[budget]
    guard record.size <= limit.bytes / 8, !record.isResponse else { return Removal(record) }
    try connection.statement("INSERT OR REPLACE INTO replaced VALUES (?1, ?2, ?3, ?4, ?5)").run([
      .string(record.body.text), .integer(Int(record.identifier)), .integer(budget.rawValue),
      .integer(record.size), .integer(now),
    ])
    var removal = try removeReplaced(of: budget, above: limit.bytes / 8)
    // A pinned image did not count in this budget before.
    removal.add(try makeRoom(of: budget, limit: limit))
    return removal
  }

  /// Removes the oldest replaced bodies of a budget until the rest take at most so many bytes.
  func removeReplaced(of budget: Budget, above bytes: Int) throws(SQLiteError) -> Removal {
    try removeReplaced(
      """
      file IN (SELECT file FROM (
        SELECT file, sum(size) OVER (ORDER BY at DESC, rowid DESC) AS total FROM replaced WHERE budget = ?1)
      WHERE total > ?2)
      """,
      [.integer(budget.rawValue), .integer(bytes)]
    )
  }

  /// Removes the bodies that were replaced before a time, or after `now` by a wrong clock.
  func removeReplaced(before time: Int, now: Int) throws(SQLiteError) -> Removal {
    try removeReplaced("at <= ?1 OR at > ?2", [.integer(time), .integer(now)])
  }

  /// Removes the earlier bodies of a key.
  func removeReplaced(of key: String) throws(SQLiteError) -> Removal {
    try removeReplaced("id = ?1", [.integer(Int(Int64(bitPattern: Checksum.of(key))))])
  }

  /// Removes all replaced bodies.
  func removeReplaced() throws(SQLiteError) -> Removal { try removeReplaced("true", []) }

  /// The replaced bodies that are kept.
  func replacedBodies() throws(SQLiteError) -> Set<BodyName> {
    var bodies: Set<BodyName> = []
    try connection.statement("SELECT file FROM replaced").forEachRow { row in
      if let body = row.withText(0, BodyName.init(utf8:)) { bodies.insert(body) }
      return true
    }
    return bodies
  }

  private func removeReplaced(
    _ condition: String,
    _ values: [SQLiteStatement.Value]
  ) throws(SQLiteError) -> Removal {
    var removal = Removal()
    try connection.statement("DELETE FROM replaced WHERE \(condition) RETURNING file, size")
      .forEachRow(values) { row in
        removal.add(row, isEntry: false)
        return true
      }
    return removal
  }
}

extension DiskCache {
  /// Removes all replaced bodies, for a full disk.
  ///
  /// - Returns: The freed bytes.
  func evictReplaced() -> Int {
    guard let bodies = try? pool.read({ index throws(SQLiteError) in try index.replacedBodies() }) else {
      return 0
    }
    let bytes = bodies.reduce(0) { $0 + (folder.size(of: $1) ?? 0) }
    // The files go first, because a full disk cannot remove rows. A row without its file expires.
    folder.remove(Array(bodies))
    if !bodies.isEmpty { _ = pool.writeIfIdle { index throws(SQLiteError) in try index.removeReplaced() } }
    return bytes
  }
}
