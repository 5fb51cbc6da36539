import CSQLite
import FeedimgModel

/// The index of what is stored, through one connection; for one thread at a time.
///
/// It knows rows, not files: a row may be there whose body has gone, and the other way round.
final class CacheIndex {
  let connection: SQLiteConnection
  /// Whether nothing can be changed.
  let isReadOnly: Bool
  /// False once no catalog is left to be read; that never changes back in the same file.
  private(set) var mayHaveUnread = true

  var isPreparedToWrite = false

  init(_ connection: SQLiteConnection) {
    self.connection = connection
    isReadOnly = connection.isReadOnly
  }

  /// Runs the body in a transaction that holds the right to write from its start; undone when it throws.
  func transaction<Answer>(_ body: () throws(SQLiteError) -> Answer) throws(SQLiteError) -> Answer {
    try prepareToWrite()
    return try connection.transaction { () throws(SQLiteError) in
      try checkVersion()
      return try body()
    }
  }

  /// An entry with what changes when it is used.
  struct Entry {
    var record: EntryRecord
    /// In seconds since 1970.
    var usedAt: Int
  }

  /// The entry of a key; nil where there is none.
  func entry(of key: String) throws(SQLiteError) -> Entry? {
    guard let entry = try entry(with: Int64(bitPattern: Checksum.of(key))) else { return nil }
    return entry.record.key == key ? entry : nil
  }

  /// An entry as far as it tells whether the image is there.
  struct Glance {
    var outline: EntryOutline
    /// In seconds since 1970.
    var usedAt: Int
  }

  /// A glance at the entry of a key, which costs less than all of it; nil where there is none.
  func glance(at key: String) throws(SQLiteError) -> Glance? {
    let hash = Checksum.of(key)
    let found = try connection.statement(Self.selection).first([.integer(Int(Int64(bitPattern: hash)))]) {
      ($0.withText(0) { EntryOutline.find(key, in: $0) }, $0.integer(1))
    }
    switch found {
    case .none, (.another, _)?: return nil
    case (.ours(let outline), let usedAt)? where outline.body.keyHash == hash:
      return Glance(outline: outline, usedAt: usedAt)
    default: throw Self.damagedRow
    }
  }

  /// The row of an identifier.
  private static let selection = "SELECT record, used_at FROM entry WHERE id = ?1"

  private static let damagedRow = SQLiteError(code: SQLITE_CORRUPT, message: "a row is damaged")

  /// A record as it was read from the row of an identifier.
  ///
  /// - Throws: ``SQLiteError`` for a damaged row. SQLite sees damage to its own structures alone; where one row was
  ///   changed, no other is to be relied on either, and the index is made again.
  static func whole(_ record: EntryRecord?, _ identifier: Int64) throws(SQLiteError) -> EntryRecord {
    guard let record, record.identifier == identifier else { throw damagedRow }
    return record
  }

  /// The entries that a statement gives, with the columns `id`, `record` and `used_at`.
  func entries(_ sql: String, _ values: [SQLiteStatement.Value] = []) throws(SQLiteError) -> [Entry] {
    var entries: [Entry] = []
    try connection.statement(sql).forEachRow(values) { row throws(SQLiteError) in
      let record = try Self.whole(row.withText(1, EntryRecord.init(line:)), Int64(row.integer(0)))
      entries.append(Entry(record: record, usedAt: row.integer(2)))
      return true
    }
    return entries
  }

  /// The entry in the row of this identifier; nil where there is no row.
  func entry(with identifier: Int64) throws(SQLiteError) -> Entry? {
    let found = try connection.statement(Self.selection).first([.integer(Int(identifier))]) {
      ($0.withText(0, EntryRecord.init(line:)), $0.integer(1))
    }
    guard let found else { return nil }
    return Entry(record: try Self.whole(found.0, identifier), usedAt: found.1)
  }

  /// Removes the row of a record that was just read, in the same transaction.
  func displace(_ record: EntryRecord) throws(SQLiteError) {
    try connection.statement("DELETE FROM entry WHERE id = ?1").run([.integer(Int(record.identifier))])
    try account(record.budget, entries: -1, bytes: -record.size)
  }

  /// Enters a record with its line; false where its identifier has a row.
  @discardableResult
  func insert(_ record: EntryRecord, line: [UInt8], usedAt: Int) throws(SQLiteError) -> Bool {
    let insert = try connection.statement(
      "INSERT OR IGNORE INTO entry (id, role, size, used_at, record) VALUES (?1, ?2, ?3, ?4, ?5)"
    )
    try insert.run([
      .integer(Int(record.identifier)), .integer(record.budget.rawValue), .integer(record.size),
      .integer(usedAt), .text(line),
    ])
    guard connection.changes > 0 else { return false }
    try account(record.budget, entries: 1, bytes: record.size)
    return true
  }

  /// Removes exactly this entry; false where the key has another by now, or none.
  func delete(_ record: EntryRecord) throws(SQLiteError) -> Bool {
    let delete = try connection.statement("DELETE FROM entry WHERE id = ?1 AND record = ?2")
    try delete.run([.integer(Int(record.identifier)), .text(record.line)])
    guard connection.changes > 0 else { return false }
    try account(record.budget, entries: -1, bytes: -record.size)
    return true
  }

  /// Puts a record in place of another with the same body; false where the key has another by now, or none.
  func replace(_ record: EntryRecord, with line: [UInt8]) throws(SQLiteError) -> Bool {
    let update = try connection.statement("UPDATE entry SET record = ?3 WHERE id = ?1 AND record = ?2")
    try update.run([.integer(Int(record.identifier)), .text(record.line), .text(line)])
    return connection.changes > 0
  }

  /// Moves an entry to the budget of another record with the same body; false where the key has another by now.
  func move(
    _ record: EntryRecord,
    to other: EntryRecord,
    line: [UInt8],
    usedAt: Int
  ) throws(SQLiteError) -> Bool {
    let update = try connection.statement(
      "UPDATE entry SET role = ?3, used_at = ?4, record = ?5 WHERE id = ?1 AND record = ?2"
    )
    try update.run([
      .integer(Int(record.identifier)), .text(record.line), .integer(other.budget.rawValue), .integer(usedAt),
      .text(line),
    ])
    guard connection.changes > 0 else { return false }
    try account(record.budget, entries: -1, bytes: -record.size)
    try account(other.budget, entries: 1, bytes: other.size)
    return true
  }

  /// Writes down that entries were used.
  func touch(_ touches: [Touch]) throws(SQLiteError) {
    let use = try connection.statement(
      "UPDATE entry SET hits = hits + ?2, used_at = ?3 WHERE id = ?1"
    )
    let count = try connection.statement("UPDATE entry SET hits = hits + ?2 WHERE id = ?1")
    for touch in touches {
      let values: [SQLiteStatement.Value] = [.integer(Int(touch.identifier)), .integer(touch.hits)]
      if let usedAt = touch.usedAt {
        try use.run(values + [.integer(usedAt)])
      } else {
        try count.run(values)
      }
    }
  }

  /// Adds to a counter.
  func add(_ count: Int, to tally: Tally) throws(SQLiteError) {
    guard count != 0 else { return }
    try connection.statement("UPDATE account SET count = count + ?2 WHERE line = ?1")
      .run([.integer(tally.rawValue), .integer(count)])
  }

  /// The counters that are kept over the life of the index, by their lines in the account.
  enum Tally: Int {
    case hits = 2
    case misses
  }
}

extension CacheIndex {
  /// The shards whose catalogs must still be read before their rows count; usually none.
  func unreadShards() throws(SQLiteError) -> [Shard] {
    guard mayHaveUnread else { return [] }
    var shards: [Shard] = []
    try connection.statement("SELECT shard FROM unread").forEachRow { row in
      shards.append(Shard(number: UInt8(truncatingIfNeeded: row.integer(0))))
      return true
    }
    mayHaveUnread = !shards.isEmpty
    return shards
  }

  /// Whether the rows of a shard are all there.
  func hasRead(_ shard: Shard) throws(SQLiteError) -> Bool { try !unreadShards().contains(shard) }

  /// Takes in what a catalog told of a shard, beside the rows that are there, which are newer; the bodies left over.
  func adopt(_ records: [EntryRecord], of shard: Shard) throws(SQLiteError) -> [BodyName] {
    var rest: [BodyName] = []
    for record in records where try !insert(record, line: record.line, usedAt: Int(record.storedAt)) {
      if try entry(with: record.identifier)?.record.body != record.body { rest.append(record.body) }
    }
    try connection.statement("DELETE FROM unread WHERE shard = ?1").run([.integer(Int(shard.number))])
    return rest
  }

  /// The rows of a shard.
  func entries(in shard: Shard) throws(SQLiteError) -> [Entry] {
    let range = shard.identifiers
    return try entries(
      "SELECT id, record, used_at FROM entry WHERE id BETWEEN ?1 AND ?2",
      [.integer(Int(range.lowerBound)), .integer(Int(range.upperBound))]
    )
  }
}
