import FeedimgModel

extension CacheIndex {
  /// What is stored of a role.
  struct Total: Hashable {
    var entries: Int
    var bytes: Int
  }

  func total(of role: ImageVariant.Role) throws(SQLiteError) -> Total {
    let select = try connection.statement("SELECT entries, bytes FROM total WHERE role = ?1")
    let total = try select.first([.integer(role.column)]) {
      Total(entries: $0.integer(0), bytes: $0.integer(1))
    }
    return total ?? Total(entries: 0, bytes: 0)
  }

  /// Rows that were removed, with the bodies that lost them.
  struct Removal {
    var bodies: [BodyName] = []
    /// Whether the budget still holds too much, as one transaction removes only so many.
    var isUnfinished = false
  }

  /// So many rows go in one transaction at most, so that others need not wait long.
  private static let greatestCount = 256

  /// Removes what has been used least recently, until the incoming bytes fit.
  func makeRoom(
    for incoming: Int,
    of role: ImageVariant.Role,
    limit: ByteCount
  ) throws(SQLiteError) -> Removal {
    let eviction = Eviction(stored: try total(of: role).bytes, incoming: incoming, limit: limit)
    guard eviction.required > 0 else { return Removal() }
    let oldest = try rows(
      "SELECT id, size, record FROM entry WHERE role = ?1 ORDER BY used_at LIMIT ?2",
      [.integer(role.column), .integer(Self.greatestCount)]
    )
    let count = eviction.count(of: oldest.map(\.size))
    var removal = Removal(bodies: try delete(oldest.prefix(count)))
    let freed = oldest.prefix(count).reduce(0) { $0 + min(max(0, $1.size), 1 << 50) }
    if freed < eviction.required {
      removal.isUnfinished = !oldest.isEmpty
      // Nothing is left to remove, and still it does not fit: the total was damaged.
      if oldest.isEmpty { try recount() }
    }
    return removal
  }

  /// Removes what has not been used since a time, as much as one step may.
  func removeUnused(
    since time: Int,
    of role: ImageVariant.Role,
    atMost count: Int
  ) throws(SQLiteError) -> [BodyName] {
    let unused = try rows(
      "SELECT id, size, record FROM entry WHERE role = ?1 AND used_at < ?2 ORDER BY used_at LIMIT ?3",
      [.integer(role.column), .integer(time), .integer(count)]
    )
    return try delete(unused[...])
  }

  /// Counts uses in times to come, written by a clock that was wrong, as uses now.
  func correctUses(after time: Int, now: Int) throws(SQLiteError) {
    for role in ImageVariant.Role.allCases {
      try connection.statement("UPDATE entry SET used_at = ?3 WHERE role = ?1 AND used_at > ?2")
        .run([.integer(role.column), .integer(time), .integer(now)])
    }
  }

  /// Makes the totals from the rows.
  func recount() throws(SQLiteError) {
    for role in ImageVariant.Role.allCases {
      let sql = """
        INSERT OR REPLACE INTO total
        SELECT ?1, count(*), coalesce(sum(size), 0) FROM entry WHERE role = ?1
        """
      try connection.statement(sql).run([.integer(role.column)])
    }
  }

  private struct Row {
    var identifier: Int
    var size: Int
    var body: BodyName
  }

  private func rows(_ sql: String, _ values: [SQLiteStatement.Value]) throws(SQLiteError) -> [Row] {
    var rows: [Row] = []
    try connection.statement(sql).forEachRow(values) { row throws(SQLiteError) in
      let identifier = row.integer(0)
      let record = try Self.whole(row.withText(2, EntryRecord.init(line:)), Int64(identifier))
      rows.append(Row(identifier: identifier, size: row.integer(1), body: record.body))
      return true
    }
    return rows
  }

  private func delete(_ rows: ArraySlice<Row>) throws(SQLiteError) -> [BodyName] {
    let delete = try connection.statement("DELETE FROM entry WHERE id = ?1")
    for row in rows { try delete.run([.integer(row.identifier)]) }
    return rows.map(\.body)
  }
}
