import FeedimgModel
import FeedimgSQLite
import FeedimgSystem

/// The index of a cache, through one connection.
///
/// Sendable because one thread at a time uses it: the pool alone refers to an idle index, and the borrower's thread to a
/// lent one.
///
/// It knows rows, not files. A body is placed before its row is committed and removed after its row. So a kill leaves
/// a file without a row, which the next sweep removes. Only eviction on a full disk removes bodies first; a row without
/// its body counts as absent.
final class CacheIndex: @unchecked Sendable {
  let connection: SQLiteConnection
  /// The identity of its file.
  let identity: FileIdentity
  let isReadOnly: Bool
  /// Whether to close the connection after its use.
  var isForOnce = false
  /// Whether ``prepareToWrite()`` ran on this connection.
  var isPreparedToWrite = false
  /// The pages in the log that cause a checkpoint.
  let checkpointPages: Int

  init(
    _ folder: CacheFolder,
    _ access: SQLiteConnection.Access,
    _ identity: FileIdentity
  ) throws(SQLiteError) {
    connection = try SQLiteConnection(path: folder.index, access: access)
    self.identity = identity
    checkpointPages = IndexSchema.checkpointPages(folder.freeSpace())
    isReadOnly = connection.isReadOnly
  }

  /// Runs the body in a write transaction, which is rolled back if the body throws.
  func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
    try prepareToWrite()
    return try connection.transaction { () throws(SQLiteError) in
      try checkVersion()
      return try body()
    }
  }
}

/// Single rows.
extension CacheIndex {
  /// A record with the time of its last use.
  struct Entry {
    var record: EntryRecord
    /// Seconds since 1970.
    var usedAt: Int
  }

  /// The entry of a key; nil if there is none.
  func entry(of key: String) throws(SQLiteError) -> Entry? {
    guard let entry = try entry(with: Int64(bitPattern: Checksum.of(key))) else { return nil }
    return entry.record.key == key ? entry : nil
  }

  /// The entry with an identifier; nil if there is none or its row is damaged.
  func entry(with identifier: Int64) throws(SQLiteError) -> Entry? {
    let select = try connection.statement(Self.selection)
    return try select.first([.integer(Int(identifier))], Self.entry) ?? nil
  }

  /// Passes the entry of each key to the body, in their order; nil for a key without an entry.
  func forEachEntry(of keys: [String], _ body: (Entry?) -> Void) throws(SQLiteError) {
    func find() throws(SQLiteError) {
      let identifiers = try identifiers(toLookUp: keys.count)
      for key in keys {
        let mayExist =
          identifiers.map { !$0.isEmpty && $0.contains(Int64(bitPattern: Checksum.of(key))) } ?? true
        try body(mayExist ? entry(of: key) : nil)
      }
    }
    if keys.count > 1 { try connection.snapshot(find) } else { try find() }
  }

  /// The identifiers of all entries; nil if looking up so many keys takes less time than reading them.
  private func identifiers(toLookUp count: Int) throws(SQLiteError) -> Set<Int64>? {
    // Counting the entries takes as long as a few look-ups.
    guard count > 32 else { return nil }
    var entries = 0
    for budget in Budget.allCases { entries += try total(of: budget).entries }
    // A look-up takes at least four times as long as reading one identifier.
    guard entries / 4 < count else { return nil }
    var identifiers = Set<Int64>(minimumCapacity: entries)
    try connection.statement("SELECT id FROM entry").forEachRow { row in
      identifiers.insert(Int64(row.integer(0)))
      return true
    }
    return identifiers
  }

  /// Inserts a record, and replaces a row with the same identifier.
  func insert(_ record: EntryRecord, usedAt: Int) throws(SQLiteError) {
    try connection.statement(Self.insertion).run([
      .integer(Int(record.identifier)), .string(record.key), .integer(record.budget.rawValue),
      .integer(Budget(record.role).rawValue), .string(record.body.text), .integer(record.size),
      .integer(Int(Int64(bitPattern: record.checksum))), .string(record.mediaType),
      .integer(Milliseconds.count(record.storedAt)), .integer(Milliseconds.count(record.requestedAt)),
      .integer(Milliseconds.count(record.respondedAt)), .text(record.head), .integer(usedAt),
    ])
  }

  /// Removes exactly this entry, and with `keepsPin` remembers its pin for the next image of the key.
  ///
  /// - Returns: False if the key has another entry or none, or if the entry was pinned or unpinned.
  @discardableResult
  func delete(_ record: EntryRecord, keepsPin: Bool = false) throws(SQLiteError) -> Bool {
    try connection.statement("DELETE FROM entry WHERE id = ?1 AND file = ?2 AND budget = ?3").run([
      .integer(Int(record.identifier)), .string(record.body.text), .integer(record.budget.rawValue),
    ])
    guard connection.changes > 0 else { return false }
    if keepsPin, record.isPinned {
      try connection.statement("INSERT OR REPLACE INTO awaited_pin VALUES (?1, ?2)")
        .run([.integer(Int(record.identifier)), .string(record.key)])
    }
    return true
  }

  /// Whether the next image of a key is pinned, because the pinned one was damaged.
  func isPinAwaited(for key: String) throws(SQLiteError) -> Bool {
    try connection.statement("SELECT 1 FROM awaited_pin WHERE key = ?1 AND id = ?2")
      .first(Self.pin(key)) { _ in true } ?? false
  }

  func removeAwaitedPin(for key: String) throws(SQLiteError) {
    try connection.statement("DELETE FROM awaited_pin WHERE key = ?1 AND id = ?2").run(Self.pin(key))
  }

  private static func pin(_ key: String) -> [SQLiteStatement.Value] {
    [.string(key), .integer(Int(Int64(bitPattern: Checksum.of(key))))]
  }

  /// Replaces the response of an entry; false if the key has another entry or response by now.
  func replace(_ record: EntryRecord, with new: EntryRecord) throws(SQLiteError) -> Bool {
    try connection.statement(
      """
      UPDATE entry SET requested_at = ?4, responded_at = ?5, head = ?6
      WHERE id = ?1 AND file = ?2 AND responded_at = ?3
      """
    )
    .run([
      .integer(Int(record.identifier)), .string(record.body.text),
      .integer(Milliseconds.count(record.respondedAt)), .integer(Milliseconds.count(new.requestedAt)),
      .integer(Milliseconds.count(new.respondedAt)), .text(new.head),
    ])
    return connection.changes > 0
  }

  /// Moves an entry to another budget; false if the key has another entry or none by now.
  func move(_ record: EntryRecord, to budget: Budget, usedAt: Int) throws(SQLiteError) -> Bool {
    let update = try connection.statement(
      "UPDATE entry SET budget = ?4, used_at = ?5 WHERE id = ?1 AND file = ?2 AND budget = ?3"
    )
    try update.run([
      .integer(Int(record.identifier)), .string(record.body.text), .integer(record.budget.rawValue),
      .integer(budget.rawValue), .integer(usedAt),
    ])
    return connection.changes > 0
  }

  /// Records the last uses of entries, in seconds since 1970.
  func touch(_ uses: [Int64: Int]) throws(SQLiteError) {
    let use = try connection.statement("UPDATE entry SET used_at = ?2 WHERE id = ?1")
    for (identifier, usedAt) in uses.sorted(by: { $0.key < $1.key }) {
      try use.run([.integer(Int(identifier)), .integer(usedAt)])
    }
  }

  private static let columns = """
    id, key, budget, role, file, size, checksum, media_type, stored_at, requested_at, responded_at, head, used_at
    """

  // Made once, because each look-up would otherwise join the texts again.
  private static let selection = "SELECT \(columns) FROM entry WHERE id = ?1"
  private static let insertion = """
    INSERT OR REPLACE INTO entry (\(columns))
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    """

  /// Reads a row of `columns`; nil for a damaged one.
  private static func entry(_ row: SQLiteRow) -> Entry? {
    guard let body = row.withText(4, BodyName.init(utf8:)),
      Int64(bitPattern: body.keyHash) == Int64(row.integer(0)), row.integer(5) >= 0
    else { return nil }
    let record = EntryRecord(
      key: row.string(1),
      role: row.integer(3) == Budget.originals.rawValue ? .original : .thumbnail,
      isPinned: row.integer(2) == Budget.pinned.rawValue,
      mediaType: row.string(7),
      body: body,
      size: row.integer(5),
      checksum: UInt64(bitPattern: Int64(row.integer(6))),
      storedAt: Milliseconds.seconds(row.integer(8)),
      requestedAt: Milliseconds.seconds(row.integer(9)),
      respondedAt: Milliseconds.seconds(row.integer(10)),
      head: row.withText(11) { Array($0) }
    )
    return Entry(record: record, usedAt: row.integer(12))
  }
}

/// Totals and counters.
extension CacheIndex {
  /// The contents of a budget; the bytes include those of replaced bodies.
  typealias Total = (entries: Int, bytes: Int)

  /// Counters, by their line in the totals.
  enum Tally: Int {
    case hits = 2
    case misses = 3
    /// More than zero if there may be files without rows.
    case unswept = 5
  }

  func total(of budget: Budget) throws(SQLiteError) -> Total {
    let select = try connection.statement(
      """
      SELECT count, bytes + (SELECT coalesce(sum(size), 0) FROM replaced WHERE budget = ?1)
      FROM account WHERE line = ?1
      """
    )
    let total = try select.first([.integer(budget.rawValue)]) { row -> Total in
      // A damaged total must not overflow a sum.
      (min(max(0, row.integer(0)), 1 << 50), min(max(0, row.integer(1)), 1 << 60))
    }
    return total ?? (0, 0)
  }

  func count(of tally: Tally) throws(SQLiteError) -> Int {
    let select = try connection.statement("SELECT count FROM account WHERE line = ?1")
    return try select.first([.integer(tally.rawValue)]) { $0.integer(0) } ?? 0
  }

  func add(_ count: Int, to tally: Tally) throws(SQLiteError) {
    guard count != 0 else { return }
    try connection.statement("UPDATE account SET count = count + ?2 WHERE line = ?1")
      .run([.integer(tally.rawValue), .integer(count)])
  }

  /// Computes the totals from the rows; triggers keep them up to date.
  func recount() throws(SQLiteError) {
    for budget in Budget.allCases {
      let sql = """
        INSERT OR REPLACE INTO account
        SELECT ?1, count(*), coalesce(sum(size), 0) FROM entry WHERE budget = ?1
        """
      try connection.statement(sql).run([.integer(budget.rawValue)])
    }
  }

  /// The oldest and the newest last use of an image; nil without images.
  func useRange() throws(SQLiteError) -> ClosedRange<Int>? {
    var times: [Int] = []
    for budget in Budget.images {
      // Each takes one step in the index; the minimum and maximum in one statement would read all rows.
      for order in ["ASC", "DESC"] {
        let select = try connection.statement(
          "SELECT used_at FROM entry WHERE budget = ?1 ORDER BY used_at \(order) LIMIT 1"
        )
        if let time = try select.first([.integer(budget.rawValue)], { $0.integer(0) }) { times.append(time) }
      }
    }
    return times.min().flatMap { oldest in times.max().map { oldest...$0 } }
  }
}

/// Eviction.
extension CacheIndex {
  /// The removed rows, whose bodies are to be removed.
  struct Removal {
    private(set) var bodies: [BodyName] = []
    /// The number of bodies that belonged to entries; the others were replaced bodies.
    private(set) var entries = 0
    /// The size of the bodies.
    private(set) var bytes = 0

    init() {}

    /// - Parameter record: The record of a removed row.
    init(_ record: EntryRecord) { (bodies, entries, bytes) = ([record.body], 1, record.size) }

    /// Adds a row with the columns `file` and `size`, which may be damaged.
    mutating func add(_ row: SQLiteRow, isEntry: Bool = true) {
      if let body = row.withText(0, BodyName.init(utf8:)) {
        bodies.append(body)
        if isEntry { entries += 1 }
      }
      bytes = min(bytes + min(max(0, row.integer(1)), 1 << 60), 1 << 60)
    }

    mutating func add(_ other: Removal) {
      bodies += other.bodies
      entries += other.entries
      bytes = min(bytes + other.bytes, 1 << 60)
    }
  }

  /// The most rows to remove at once when more can be removed later, so that other processes wait only briefly.
  static let maximumCount = 256

  /// Removes the least recently used entries of a budget until they took so many bytes.
  func removeOldest(
    of budget: Budget,
    bytes: Int = .max,
    unusedSince time: Int = .max,
    atMost count: Int = .max
  ) throws(SQLiteError) -> Removal {
    var removal = Removal()
    let delete = try connection.statement(
      """
      DELETE FROM entry
      WHERE id = (SELECT id FROM entry WHERE budget = ?1 AND used_at < ?2 ORDER BY used_at LIMIT 1)
      RETURNING file, size
      """
    )
    var left = count
    while left > 0, removal.bytes < bytes {
      guard try delete.first([.integer(budget.rawValue), .integer(time)], { removal.add($0) }) != nil else {
        break
      }
      left -= 1
    }
    return removal
  }

  /// Evicts the least recently used entries until `incoming` more bytes fit.
  ///
  /// Replaced bodies go first if they exceed their eighth of the limit, or if entries alone cannot make room.
  func makeRoom(
    for incoming: Int = 0,
    of budget: Budget,
    limit: ByteCount,
    atMost count: Int = .max
  ) throws(SQLiteError) -> Removal {
    let excess = try total(of: budget).bytes + incoming - limit.bytes
    guard excess > 0 else { return Removal() }
    var removal = try removeReplaced(of: budget, above: min(limit.bytes / 8, limit.bytes - incoming))
    removal.add(try removeOldest(of: budget, bytes: excess - removal.bytes, atMost: count))
    // The budget is empty, and yet the bytes do not fit: the total was damaged.
    if removal.bodies.isEmpty { try recount() }
    return removal
  }

  /// Evicts so many bytes, in the order of ``Budget/evictable``; stops after `count` entries of one budget.
  func evict(_ bytes: Int, atMost count: Int = .max) throws(SQLiteError) -> Removal {
    var removal = Removal()
    for budget in Budget.evictable where removal.bytes < bytes {
      let oldest = try removeOldest(of: budget, bytes: bytes - removal.bytes, atMost: count)
      removal.add(oldest)
      // The rest of this budget goes before the next one.
      if oldest.bodies.count >= count { break }
    }
    return removal
  }

  /// Passes the bodies of a budget to the body until that returns false, the least recently used first.
  func forEachBody(of budget: Budget, _ body: (BodyName) -> Bool) throws(SQLiteError) {
    try connection.statement("SELECT file FROM entry WHERE budget = ?1 ORDER BY used_at")
      .forEachRow([.integer(budget.rawValue)]) { row in
        row.withText(0, BodyName.init(utf8:)).map(body) ?? true
      }
  }

  /// Removes the rows of bodies.
  func delete(_ bodies: [BodyName]) throws(SQLiteError) {
    let delete = try connection.statement("DELETE FROM entry WHERE id = ?1 AND file = ?2")
    for body in bodies {
      try delete.run([.integer(Int(Int64(bitPattern: body.keyHash))), .string(body.text)])
    }
  }
}

/// The sweep.
extension CacheIndex {
  /// Removes the rows of a shard that have none of these bodies, and damaged rows.
  ///
  /// The pins of the removed rows are remembered for the next images of their keys.
  ///
  /// - Returns: The bodies of the rows that stay.
  func retain(_ bodies: Set<BodyName>, in shard: Shard) throws(SQLiteError) -> Set<BodyName> {
    let range = shard.identifiers
    var (kept, lost): (Set<BodyName>, [Int]) = ([], [])
    try connection.statement("SELECT id, file FROM entry WHERE id BETWEEN ?1 AND ?2").forEachRow([
      .integer(Int(range.lowerBound)), .integer(Int(range.upperBound)),
    ]) { row in
      if let body = row.withText(1, BodyName.init(utf8:)), bodies.contains(body) {
        kept.insert(body)
      } else {
        lost.append(row.integer(0))
      }
      return true
    }
    for identifier in lost {
      try connection.statement(
        "INSERT OR REPLACE INTO awaited_pin SELECT id, key FROM entry WHERE id = ?1 AND budget = ?2"
      )
      .run([.integer(identifier), .integer(Budget.pinned.rawValue)])
      try connection.statement("DELETE FROM entry WHERE id = ?1").run([.integer(identifier)])
    }
    return kept
  }
}
