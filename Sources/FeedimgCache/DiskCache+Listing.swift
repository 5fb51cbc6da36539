package import FeedimgModel
import FeedimgSQLite

extension DiskCache {
  /// What is stored, from the most recently used on; bodies are not looked at.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func list() throws(CacheError) -> [StoredImage] {
    var images: [StoredImage] = []
    try list(by: .used) {
      images.append($0)
      return true
    }
    return images
  }

  /// Tells of each image in order; bodies are not looked at.
  ///
  /// However much is stored, little of it is in memory at once, and the index is free between the calls of the body.
  ///
  /// - Parameters:
  ///   - order: What comes first.
  ///   - isReversed: Whether that comes last instead.
  ///   - limit: No more than so many.
  ///   - budgets: Those of these budgets alone.
  ///   - body: Returns whether to go on.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func list(
    by order: CacheOrder,
    isReversed: Bool = false,
    limit: Int = .max,
    budgets: Set<Budget> = Set(Budget.images),
    _ body: (StoredImage) -> Bool
  ) throws(CacheError) {
    try forEachEntry(by: order, isReversed: isReversed, limit: limit, budgets: budgets) { entry in
      body(entry.record.storedImage(path: folder.path(of: entry.record.body), usedAt: Double(entry.usedAt)))
    }
  }

  /// Gives each entry to the body in order, until that returns false; those that go meanwhile are left out.
  func forEachEntry(
    by order: CacheOrder,
    isReversed: Bool = false,
    limit: Int = .max,
    budgets: Set<Budget> = Set(Budget.images),
    _ body: (CacheIndex.Entry) throws(CacheError) -> Bool
  ) throws(CacheError) {
    writeLedger()
    let found = try pool.read { index throws(SQLiteError) in
      try index.identifiers(by: order, isReversed: isReversed, limit: limit, in: budgets)
    }
    var rest = (found ?? [])[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.batch)
      rest = rest.dropFirst(Self.batch)
      let entries = try pool.read { index throws(SQLiteError) -> [CacheIndex.Entry] in
        var entries: [CacheIndex.Entry] = []
        for identifier in batch {
          if let entry = try index.entry(with: identifier) { entries.append(entry) }
        }
        return entries
      }
      for entry in entries ?? [] where try !body(entry) { return }
    }
  }

  /// So many entries are read at once.
  private static let batch = 256
}

extension CacheIndex {
  /// The identifiers of entries, in order.
  func identifiers(
    by order: CacheOrder,
    isReversed: Bool,
    limit: Int,
    in budgets: Set<Budget>
  ) throws(SQLiteError) -> [Int64] {
    let lines = budgets.map { String($0.rawValue) }.sorted().joined(separator: ", ")
    let rows = "FROM entry WHERE budget IN (\(lines))"
    let direction = isReversed ? "ASC" : "DESC"
    switch order {
    case .used: return try identifiers("SELECT id \(rows) ORDER BY used_at \(direction), id LIMIT ?1", limit)
    case .size: return try identifiers("SELECT id \(rows) ORDER BY size \(direction), id LIMIT ?1", limit)
    case .stored:
      return try identifiers("SELECT id \(rows) ORDER BY stored_at \(direction), id LIMIT ?1", limit)
    case .key:
      let direction = isReversed ? "DESC" : "ASC"
      return try identifiers("SELECT id \(rows) ORDER BY key \(direction) LIMIT ?1", limit)
    }
  }

  private func identifiers(_ sql: String, _ limit: Int) throws(SQLiteError) -> [Int64] {
    var identifiers: [Int64] = []
    try connection.statement(sql).forEachRow([.integer(max(0, limit))]) { row in
      identifiers.append(Int64(row.integer(0)))
      return true
    }
    return identifiers
  }
}
