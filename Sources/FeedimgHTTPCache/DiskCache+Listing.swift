package import FeedimgModel
import FeedimgSQLite

extension DiskCache {
  /// Passes each image to the body in order, until that returns false; does not read bodies.
  ///
  /// Memory holds at most 256 entries at a time, and the index is free while the body runs.
  ///
  /// - Throws: ``CacheError`` if the index cannot be read.
  package func list(
    by order: CacheOrder,
    isReversed: Bool = false,
    limit: Int = .max,
    budgets: Set<Budget> = Set(Budget.images),
    _ body: (StoredImage) -> Bool
  ) throws(CacheError) {
    try forEachEntry(by: order, isReversed: isReversed, limit: limit, budgets: budgets) { entry in
      body(image(entry))
    }
  }

  /// Passes each entry to the body in order, until that returns false.
  ///
  /// Skips entries that are removed meanwhile.
  func forEachEntry(
    by order: CacheOrder,
    isReversed: Bool = false,
    limit: Int = .max,
    budgets: Set<Budget> = Set(Budget.images),
    _ body: (CacheIndex.Entry) -> Bool
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
      for entry in entries ?? [] where !body(entry) { return }
    }
  }

  /// The number of entries to read at once.
  private static let batch = 256

  /// The keys of the images of a URL: its own, and those of accounts.
  ///
  /// For ``ResponseKey/text(_:)`` of a URL, the keys of its responses. Includes keys whose pinned image was
  /// damaged. Reads all rows, because the index finds only whole keys.
  ///
  /// - Throws: ``CacheError`` if the index cannot be read.
  package func keys(of url: String) throws(CacheError) -> [String] {
    let keys = try pool.read { index throws(SQLiteError) in try index.keys(of: url) }
    return Set((keys ?? []).map(VariantKey.url)).sorted()
  }
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
    let columns: [CacheOrder: String] = [.used: "used_at", .stored: "stored_at", .size: "size", .key: "key"]
    let direction = isReversed == (order == .key) ? "DESC" : "ASC"
    let sql = """
      SELECT id FROM entry WHERE budget IN (\(lines)) ORDER BY \(columns[order] ?? "id") \(direction), id LIMIT ?1
      """
    var identifiers: [Int64] = []
    try connection.statement(sql).forEachRow([.integer(max(0, limit))]) { row in
      identifiers.append(Int64(row.integer(0)))
      return true
    }
    return identifiers
  }

  /// The keys that are a URL, or continue it after a space, as those of variants and accounts do.
  func keys(of url: String) throws(SQLiteError) -> [String] {
    let sql = """
      SELECT key FROM entry WHERE instr(key || ' ', ?1) = 1
      UNION SELECT key FROM awaited_pin WHERE instr(key || ' ', ?1) = 1
      """
    var keys: [String] = []
    try connection.statement(sql).forEachRow([.string(url + " ")]) { row in
      keys.append(row.string(0))
      return true
    }
    return keys
  }
}
