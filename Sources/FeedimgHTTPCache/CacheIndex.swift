import FeedimgModel
import FeedimgSQLite

/// The index of a cache, through one connection.
///
/// Only one thread at a time may use it.
///
/// It knows rows, not files. A body is placed before its row is committed and removed after its row. So a kill leaves
/// at most a file without a row, which the next sweep removes.
final class CacheIndex {
  let connection: SQLiteConnection
  let isReadOnly: Bool
  /// Whether ``prepareToWrite()`` ran on this connection.
  var isPreparedToWrite = false

  /// The pages in the log that cause a checkpoint.
  let checkpointPages: Int

  init(_ connection: SQLiteConnection, space: FreeSpace?) {
    self.connection = connection
    checkpointPages = IndexSchema.checkpointPages(space)
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

  /// The columns that a look-up needs, to read less than a whole row.
  struct EntrySummary {
    var body: BodyName
    var size: Int
    var isPinned: Bool
    /// Seconds since 1970.
    var usedAt: Int
  }

  func summary(of key: String) throws(SQLiteError) -> EntrySummary? {
    let hash = Checksum.of(key)
    let select = try connection.statement("SELECT key, file, size, budget, used_at FROM entry WHERE id = ?1")
    let found = try select.first([.integer(Int(Int64(bitPattern: hash)))]) { row -> EntrySummary? in
      guard row.isText(0, key), let body = row.withText(1, BodyName.init(utf8:)), body.keyHash == hash else {
        return nil
      }
      return EntrySummary(
        body: body,
        size: row.integer(2),
        isPinned: row.integer(3) == Budget.pinned.rawValue,
        usedAt: row.integer(4)
      )
    }
    return found ?? nil
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

  /// Inserts a record, and replaces a row with the same identifier.
  func insert(_ record: EntryRecord, usedAt: Int) throws(SQLiteError) {
    let insert = try connection.statement(Self.insertion)
    let head = record.head
    try insert.run([
      .integer(Int(record.identifier)), .string(record.key), .integer(record.budget.rawValue),
      .integer(Budget(record.role).rawValue), .string(record.body.text), .integer(record.size),
      .integer(Int(Int64(bitPattern: record.checksum))), .string(record.mediaType),
      .integer(Milliseconds.count(record.storedAt)), .integer(Milliseconds.count(record.requestedAt)),
      .integer(Milliseconds.count(record.respondedAt)), .integer(head.status), .string(head.length),
      .string(head.url), .text(head.fields), .text(head.varied), .integer(usedAt),
    ])
    try account(record.budget, entries: 1, bytes: record.size)
  }

  /// Removes exactly this entry, and with `keepsPin` remembers its pin for the next image of the key.
  ///
  /// - Returns: False if the key has another entry or none, or if the entry was pinned or unpinned.
  @discardableResult
  func delete(_ record: EntryRecord, keepsPin: Bool = false) throws(SQLiteError) -> Bool {
    let delete = try connection.statement("DELETE FROM entry WHERE id = ?1 AND file = ?2 AND budget = ?3")
    try delete.run([
      .integer(Int(record.identifier)), .string(record.body.text), .integer(record.budget.rawValue),
    ])
    guard connection.changes > 0 else { return false }
    try account(record.budget, entries: -1, bytes: -record.size)
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
    let update = try connection.statement(
      """
      UPDATE entry SET requested_at = ?4, responded_at = ?5, status = ?6, length = ?7, url = ?8, fields = ?9,
        varied = ?10
      WHERE id = ?1 AND file = ?2 AND responded_at = ?3
      """
    )
    try update.run([
      .integer(Int(record.identifier)), .string(record.body.text),
      .integer(Milliseconds.count(record.respondedAt)), .integer(Milliseconds.count(new.requestedAt)),
      .integer(Milliseconds.count(new.respondedAt)), .integer(new.head.status), .string(new.head.length),
      .string(new.head.url), .text(new.head.fields), .text(new.head.varied),
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
    guard connection.changes > 0 else { return false }
    try account(record.budget, entries: -1, bytes: -record.size)
    try account(budget, entries: 1, bytes: record.size)
    return true
  }

  /// Records the last uses of entries, in seconds since 1970.
  func touch(_ uses: [Int64: Int]) throws(SQLiteError) {
    let use = try connection.statement("UPDATE entry SET used_at = ?2 WHERE id = ?1")
    for (identifier, usedAt) in uses.sorted(by: { $0.key < $1.key }) {
      try use.run([.integer(Int(identifier)), .integer(usedAt)])
    }
  }

  private static let columns = """
    id, key, budget, role, file, size, checksum, media_type, stored_at, requested_at, responded_at, status, length, \
    url, fields, varied, used_at
    """

  // Made once, because a statement is found faster by the same text than by an equal one.
  private static let selection = "SELECT \(columns) FROM entry WHERE id = ?1"
  private static let insertion = """
    INSERT OR REPLACE INTO entry (\(columns))
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
    """
  private static let oldestFirst =
    "SELECT \(columns) FROM entry WHERE budget = ?1 AND used_at < ?2 ORDER BY used_at LIMIT ?3"

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
      head: HeadRecord(
        status: row.integer(11),
        length: row.string(12),
        url: row.string(13),
        fields: row.withText(14) { Array($0) },
        varied: row.withText(15) { Array($0) }
      )
    )
    return Entry(record: record, usedAt: row.integer(16))
  }
}

/// Totals and counters.
extension CacheIndex {
  /// The contents of a budget; the bytes include those of replaced bodies.
  struct Total: Hashable {
    var entries: Int
    var bytes: Int
  }

  /// Counters, by their line in the account.
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
    let total = try select.first([.integer(budget.rawValue)]) {
      Total(entries: $0.integer(0), bytes: $0.integer(1))
    }
    return total ?? Total(entries: 0, bytes: 0)
  }

  func count(of tally: Tally) throws(SQLiteError) -> Int {
    let select = try connection.statement("SELECT count FROM account WHERE line = ?1")
    return try select.first([.integer(tally.rawValue)]) { $0.integer(0) } ?? 0
  }

  func add(_ count: Int, to tally: Tally) throws(SQLiteError) {
    guard count != 0 else { return }
    try addToAccount(tally.rawValue, count: count, bytes: 0)
  }

  /// Adds to the total of a budget.
  ///
  /// Each method that adds or removes a row calls this.
  func account(_ budget: Budget, entries: Int, bytes: Int) throws(SQLiteError) {
    try addToAccount(budget.rawValue, count: entries, bytes: bytes)
  }

  private func addToAccount(_ line: Int, count: Int, bytes: Int) throws(SQLiteError) {
    let add = try connection.statement(
      "UPDATE account SET count = count + ?2, bytes = bytes + ?3 WHERE line = ?1"
    )
    try add.run([.integer(line), .integer(count), .integer(bytes)])
  }

  /// Computes the totals from the rows.
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
    var range: ClosedRange<Int>?
    for budget in Budget.images {
      // The index of the table knows both ends, so a large cache takes no longer.
      guard let first = try use(in: budget, "used_at"), let last = try use(in: budget, "used_at DESC"),
        first <= last
      else { continue }
      range = min(first, range?.lowerBound ?? first)...max(last, range?.upperBound ?? last)
    }
    return range
  }

  private func use(in budget: Budget, _ order: String) throws(SQLiteError) -> Int? {
    let sql = "SELECT used_at FROM entry WHERE budget = ?1 ORDER BY \(order) LIMIT 1"
    return try connection.statement(sql).first([.integer(budget.rawValue)]) { $0.integer(0) }
  }

  func isEmpty() throws(SQLiteError) -> Bool {
    try connection.statement("SELECT 1 FROM entry LIMIT 1").first { $0.integer(0) } == nil
  }

  /// Changes uses in the future, which a wrong clock wrote, to `now`; at most `maximumCount` for each budget.
  func correctUses(after time: Int, now: Int) throws(SQLiteError) {
    for budget in Budget.allCases {
      let sql = """
        UPDATE entry SET used_at = ?3 WHERE id IN (
          SELECT id FROM entry WHERE budget = ?1 AND used_at > ?2 LIMIT \(Self.maximumCount))
        """
      try connection.statement(sql).run([.integer(budget.rawValue), .integer(time), .integer(now)])
    }
  }
}

/// Eviction.
extension CacheIndex {
  /// The result of removing rows: the bodies to remove.
  struct Removal {
    var bodies: [BodyName] = []
    /// The size of the bodies.
    var bytes = 0
    /// Whether more must be removed, as one transaction removes only so many rows.
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

  /// The most rows that one transaction removes, so that other processes wait only briefly.
  static let maximumCount = 256

  /// Evicts the least recently used entries until `incoming` more bytes fit.
  func makeRoom(
    for incoming: Int,
    of budget: Budget,
    limit: ByteCount,
    isExact: Bool = false
  ) throws(SQLiteError) -> Removal {
    let stored = try total(of: budget).bytes
    var eviction = Eviction(stored: stored, incoming: incoming, limit: limit, isExact: isExact)
    guard eviction.required > 0 else { return Removal() }
    let oldest = try oldest(of: budget, usedBefore: .max, atMost: Self.maximumCount) {
      eviction.takes($0.size)
    }
    for record in oldest { try delete(record) }
    // The budget is empty, and yet the bytes do not fit: the total was damaged.
    if oldest.isEmpty { try recount() }
    return Removal(oldest, isUnfinished: !oldest.isEmpty && !eviction.isEnough)
  }

  /// Evicts so many bytes, in the order of ``Budget/evictable``.
  func evict(_ bytes: Int, isExact: Bool = false) throws(SQLiteError) -> Removal {
    var removal = Removal()
    var rest = bytes
    for budget in Budget.evictable where rest > 0 {
      let stored = try total(of: budget).bytes
      removal.add(try makeRoom(for: 0, of: budget, limit: ByteCount(max(0, stored - rest)), isExact: isExact))
      rest -= min(rest, max(0, stored))
    }
    return removal
  }

  /// The least recently used entries that take so many bytes, without evicting them.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to find.
  ///   - takes: Whether the body of an entry takes space.
  /// - Returns: At most 256 entries of each budget, including those in between whose bodies take no space.
  /// - Throws: ``SQLiteError`` if the index cannot be read.
  func minimumUsed(_ bytes: Int, where takes: (EntryRecord) -> Bool) throws(SQLiteError) -> [EntryRecord] {
    var records: [EntryRecord] = []
    var rest = bytes
    for budget in Budget.evictable where rest > 0 {
      records += try oldest(of: budget, usedBefore: .max, atMost: Self.maximumCount) { record in
        guard rest > 0 else { return false }
        if takes(record) { rest -= min(rest, record.size) }
        return true
      }
    }
    return records
  }

  /// Removes at most `count` entries of a budget that were not used since a time.
  func removeUnused(since time: Int, of budget: Budget, atMost count: Int) throws(SQLiteError) -> Removal {
    let unused = try oldest(of: budget, usedBefore: time, atMost: count) { _ in true }
    for record in unused { try delete(record) }
    return Removal(unused, isUnfinished: unused.count == count)
  }

  /// Removes a few entries of each budget that were not used since a time.
  func removeUnused(since time: Int) throws(SQLiteError) -> Removal {
    var removal = Removal()
    for budget in Budget.evictable {
      removal.add(try removeUnused(since: time, of: budget, atMost: Eviction.step))
    }
    return removal
  }

  /// The least recently used records, oldest first, up to the first that `isWanted` refuses.
  private func oldest(
    of budget: Budget,
    usedBefore time: Int,
    atMost count: Int,
    while isWanted: (EntryRecord) -> Bool
  ) throws(SQLiteError) -> [EntryRecord] {
    var records: [EntryRecord] = []
    let select = try connection.statement(Self.oldestFirst)
    try select.forEachRow([.integer(budget.rawValue), .integer(time), .integer(count)]) { row in
      guard let entry = Self.entry(row) else { return true }
      guard isWanted(entry.record) else { return false }
      records.append(entry.record)
      return true
    }
    return records
  }
}

/// The sweep.
extension CacheIndex {
  /// The shards that have rows.
  func shards() throws(SQLiteError) -> Set<Shard> {
    var shards: Set<Shard> = []
    try connection.statement("SELECT DISTINCT id >> 56 & 255 FROM entry").forEachRow { row in
      shards.insert(Shard(number: UInt8(truncatingIfNeeded: row.integer(0))))
      return true
    }
    return shards
  }

  /// The entries of a shard, without damaged rows, which the next sweep removes.
  func entries(in shard: Shard) throws(SQLiteError) -> [Entry] {
    let range = shard.identifiers
    var entries: [Entry] = []
    try connection.statement("SELECT \(Self.columns) FROM entry WHERE id BETWEEN ?1 AND ?2").forEachRow([
      .integer(Int(range.lowerBound)), .integer(Int(range.upperBound)),
    ]) { row in
      if let entry = Self.entry(row) { entries.append(entry) }
      return true
    }
    return entries
  }

  /// Removes the rows of a shard that have none of these bodies, and damaged rows.
  ///
  /// The pins of the removed rows are remembered for the next images of their keys.
  func retain(_ bodies: Set<BodyName>, in shard: Shard) throws(SQLiteError) {
    let range = shard.identifiers
    var lost: [Int] = []
    try connection.statement("SELECT id, file FROM entry WHERE id BETWEEN ?1 AND ?2").forEachRow([
      .integer(Int(range.lowerBound)), .integer(Int(range.upperBound)),
    ]) { row in
      let body = row.withText(1, BodyName.init(utf8:))
      if body.map({ !bodies.contains($0) }) ?? true { lost.append(row.integer(0)) }
      return true
    }
    for identifier in lost {
      try connection.statement(
        "INSERT OR REPLACE INTO awaited_pin SELECT id, key FROM entry WHERE id = ?1 AND budget = ?2"
      )
      .run([.integer(identifier), .integer(Budget.pinned.rawValue)])
      try connection.statement("DELETE FROM entry WHERE id = ?1").run([.integer(identifier)])
    }
  }
}
