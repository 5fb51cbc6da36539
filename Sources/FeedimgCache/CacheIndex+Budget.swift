import FeedimgModel

extension CacheIndex {
  /// What a budget holds.
  struct Total: Hashable {
    var entries: Int
    var bytes: Int
  }

  func total(of budget: Budget) throws(SQLiteError) -> Total {
    let select = try connection.statement("SELECT count, bytes FROM account WHERE line = ?1")
    let total = try select.first([.integer(budget.rawValue)]) {
      Total(entries: $0.integer(0), bytes: $0.integer(1))
    }
    return total ?? Total(entries: 0, bytes: 0)
  }

  /// Rows that were removed, with the bodies that lost them.
  struct Removal {
    var bodies: [BodyName] = []
    /// What these bodies take.
    var bytes = 0
    /// Whether the budget still holds too much, as one transaction removes only so many.
    var isUnfinished = false

    init(_ records: [EntryRecord] = [], isUnfinished: Bool = false) {
      bodies = records.map(\.body)
      bytes = records.reduce(0) { $0 + $1.size }
      self.isUnfinished = isUnfinished
    }

    mutating func add(_ other: Removal) {
      bodies += other.bodies
      bytes += other.bytes
      isUnfinished = isUnfinished || other.isUnfinished
    }
  }

  /// So many rows go in one transaction at most, so that others need not wait long.
  static let greatestCount = 256

  /// Removes what has been used least recently, until the incoming bytes fit.
  func makeRoom(
    for incoming: Int,
    of budget: Budget,
    limit: ByteCount,
    isExact: Bool = false
  ) throws(SQLiteError) -> Removal {
    let stored = try total(of: budget).bytes
    var eviction = Eviction(stored: stored, incoming: incoming, limit: limit, isExact: isExact)
    guard eviction.required > 0 else { return Removal() }
    let oldest = try oldest(of: budget, usedBefore: .max, atMost: Self.greatestCount) {
      eviction.takes($0.size)
    }
    try delete(oldest, of: budget)
    // Nothing is left to remove, and still it does not fit: the total was damaged.
    if oldest.isEmpty { try recount() }
    return Removal(oldest, isUnfinished: !oldest.isEmpty && !eviction.isEnough)
  }

  /// Removes so many bytes because the disk is needed for something else: originals first, as thumbnails are what offline needs.
  func giveBack(_ bytes: Int, isExact: Bool = false) throws(SQLiteError) -> Removal {
    var removal = Removal()
    var rest = bytes
    for budget in Budget.yielding where rest > 0 {
      let stored = try total(of: budget).bytes
      removal.add(try makeRoom(for: 0, of: budget, limit: ByteCount(max(0, stored - rest)), isExact: isExact))
      rest -= min(rest, max(0, stored))
    }
    return removal
  }

  /// The entries used least recently that take so many bytes together, as far as one step goes; they stay.
  ///
  /// - Parameters:
  ///   - bytes: How much is wanted.
  ///   - takes: Whether a body takes anything.
  /// - Returns: With those that take nothing and came on the way.
  /// - Throws: ``SQLiteError`` where the index cannot be read.
  func leastUsed(_ bytes: Int, where takes: (EntryRecord) -> Bool) throws(SQLiteError) -> [EntryRecord] {
    var records: [EntryRecord] = []
    var rest = bytes
    for budget in Budget.yielding where rest > 0 {
      records += try oldest(of: budget, usedBefore: .max, atMost: Self.greatestCount) { record in
        guard rest > 0 else { return false }
        if takes(record) { rest -= min(rest, record.size) }
        return true
      }
    }
    return records
  }

  /// Removes what has not been used since a time, as much as one step may.
  func removeUnused(
    since time: Int,
    of budget: Budget,
    atMost count: Int
  ) throws(SQLiteError) -> Removal {
    let unused = try oldest(of: budget, usedBefore: time, atMost: count) { _ in true }
    try delete(unused, of: budget)
    return Removal(unused, isUnfinished: unused.count == count)
  }

  /// The records used least recently, oldest first, up to the first that the body does not want.
  private func oldest(
    of budget: Budget,
    usedBefore time: Int,
    atMost count: Int,
    while isWanted: (EntryRecord) -> Bool
  ) throws(SQLiteError) -> [EntryRecord] {
    var records: [EntryRecord] = []
    let select = try connection.statement(
      "SELECT id, record FROM entry WHERE role = ?1 AND used_at < ?2 ORDER BY used_at LIMIT ?3"
    )
    let values: [SQLiteStatement.Value] = [.integer(budget.rawValue), .integer(time), .integer(count)]
    try select.forEachRow(values) { row throws(SQLiteError) in
      let record = try Self.whole(row.withText(1, EntryRecord.init(line:)), Int64(row.integer(0)))
      guard isWanted(record) else { return false }
      records.append(record)
      return true
    }
    return records
  }

  private func delete(_ records: [EntryRecord], of budget: Budget) throws(SQLiteError) {
    guard !records.isEmpty else { return }
    let delete = try connection.statement("DELETE FROM entry WHERE id = ?1")
    for record in records { try delete.run([.integer(Int(record.identifier))]) }
    let bytes = records.reduce(0) { $0 + $1.size }
    try account(budget, entries: -records.count, bytes: -bytes)
  }

  /// Adds to the total of a budget; whatever adds or removes a row says so here.
  func account(_ budget: Budget, entries: Int, bytes: Int) throws(SQLiteError) {
    try connection.statement("UPDATE account SET count = count + ?2, bytes = bytes + ?3 WHERE line = ?1")
      .run([.integer(budget.rawValue), .integer(entries), .integer(bytes)])
  }

  /// Counts uses in times to come, written by a clock that was wrong, as uses now; as many as one step may.
  func correctUses(after time: Int, now: Int) throws(SQLiteError) {
    for budget in Budget.allCases {
      let sql = """
        UPDATE entry SET used_at = ?3 WHERE id IN (
          SELECT id FROM entry WHERE role = ?1 AND used_at > ?2 LIMIT \(Self.greatestCount))
        """
      try connection.statement(sql).run([.integer(budget.rawValue), .integer(time), .integer(now)])
    }
  }

  /// Makes the totals from the rows.
  func recount() throws(SQLiteError) {
    for budget in Budget.allCases {
      let sql = """
        INSERT OR REPLACE INTO account
        SELECT ?1, count(*), coalesce(sum(size), 0) FROM entry WHERE role = ?1
        """
      try connection.statement(sql).run([.integer(budget.rawValue)])
    }
  }
}
