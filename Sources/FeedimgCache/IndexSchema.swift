import FeedimgSQLite

/// What the index consists of.
enum IndexSchema {
  /// Marks the file as ours (sqlite.org/pragma.html#pragma_application_id): `fdig`.
  static let application = 0x6664_6967
  /// Counted up with each change; an index of a later version is left alone.
  static let version = 4
  /// In bytes.
  static let pageSize = 4096
  /// After so many pages, the next commit moves the log into the database and waits for the disk.
  ///
  /// An image takes three to four pages, so that one store in 300 waits.
  static let checkpointPages = 1024
  /// A log that a long transaction has made longer is cut again; in bytes.
  static let greatestLog = 4 << 20

  /// The keys whose pinned image was damaged: the next image of the key is pinned.
  static let awaitedPins = "CREATE TABLE awaited_pin (id INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT;"

  /// Makes everything in an empty database.
  ///
  /// `entry.id` is the hash of the key, so that look-ups need no second tree. Times but `used_at` are in milliseconds.
  /// `fields` and `varied` are names and values of fields in turn, in the form of ``RecordFields``. `account` has the
  /// totals of each ``Budget``, which `entry.budget` names, and the counters of ``CacheIndex/Tally``.
  static let statements = """
    \(awaitedPins)
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL,
      budget INTEGER NOT NULL,
      role INTEGER NOT NULL,
      file TEXT NOT NULL,
      size INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      checksum INTEGER NOT NULL,
      media_type TEXT NOT NULL,
      stored_at INTEGER NOT NULL,
      requested_at INTEGER NOT NULL,
      responded_at INTEGER NOT NULL,
      hits INTEGER NOT NULL,
      status INTEGER NOT NULL,
      length TEXT NOT NULL,
      url TEXT NOT NULL,
      fields TEXT NOT NULL,
      varied TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entry_by_use ON entry (budget, used_at, size);
    CREATE TABLE account (
      line INTEGER PRIMARY KEY,
      count INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO account VALUES
      (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0);
    """
}

extension CacheIndex {
  /// What a database is to us.
  enum Standing {
    case ours
    /// With the schema that an earlier version has made.
    case older
    /// Without anything in it.
    case empty
    case foreign
    /// With the schema that a later version has made.
    case newer(Int)
  }

  func standing() throws(SQLiteError) -> Standing {
    let application = try number("PRAGMA application_id")
    let version = try number("PRAGMA user_version")
    if application == IndexSchema.application {
      return version == IndexSchema.version ? .ours : version > IndexSchema.version ? .newer(version) : .older
    }
    let count = try number("SELECT count(*) FROM sqlite_schema")
    return application == 0 && version == 0 && count == 0 ? .empty : .foreign
  }

  private func number(_ sql: String) throws(SQLiteError) -> Int {
    try connection.statement(sql).first { $0.integer(0) } ?? 0
  }

  /// Makes the settings for writing, once; connections that only read never need them.
  ///
  /// In this mode SQLite waits for the disk at checkpoints alone: a kill loses nothing, a power cut the last images.
  func prepareToWrite() throws(SQLiteError) {
    guard !isPreparedToWrite else { return }
    try connection.execute(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = \(IndexSchema.checkpointPages); "
        + "PRAGMA journal_size_limit = \(IndexSchema.greatestLog)"
    )
    isPreparedToWrite = true
  }

  /// Makes our schema from an earlier one, in one transaction.
  ///
  /// Version 3 lacked `awaited_pin`. Versions 1 and 2 had all of a row in one line.
  ///
  /// - Throws: ``SQLiteError``; the index is as before then.
  func upgrade() throws(SQLiteError) {
    try prepareToWrite()
    try connection.transaction { () throws(SQLiteError) in
      // Another process may have done it meanwhile.
      let version = try number("PRAGMA user_version")
      guard version < IndexSchema.version else { return }
      guard version < 3 else {
        try connection.execute("\(IndexSchema.awaitedPins) PRAGMA user_version = \(IndexSchema.version)")
        return
      }
      var old: [(entry: Entry, hits: Int)] = []
      try connection.statement("SELECT used_at, hits, record FROM entry").forEachRow { row in
        guard let record = row.withText(2, EntryRecord.init(line:)) else { return true }
        old.append((Entry(record: record, usedAt: row.integer(0)), row.integer(1)))
        return true
      }
      let (hits, misses) = (try count(of: .hits), try count(of: .misses))
      connection.forgetStatements()
      try connection.execute(
        "DROP TABLE entry; DROP TABLE account; DROP TABLE IF EXISTS unread; " + IndexSchema.statements
      )
      for row in old { try insert(row.entry.record, usedAt: row.entry.usedAt, hits: row.hits) }
      try add(hits, to: .hits)
      try add(misses, to: .misses)
      try add(1, to: .unswept)
      try connection.execute("PRAGMA user_version = \(IndexSchema.version)")
    }
  }

  /// Makes sure that no later version has changed the schema since the index was opened.
  ///
  /// - Throws: ``SQLiteError`` that is not taken for damage.
  func checkVersion() throws(SQLiteError) {
    let version = try number("PRAGMA user_version")
    if version > IndexSchema.version { throw .newer(version, known: IndexSchema.version) }
  }

  /// Makes the schema in an empty database.
  ///
  /// - Parameter hasBodies: Whether there are bodies already, which then have no rows.
  /// - Throws: ``SQLiteError``; the database is empty as before then.
  func create(hasBodies: Bool) throws(SQLiteError) {
    try prepareToWrite()
    try connection.execute("PRAGMA page_size = \(IndexSchema.pageSize); PRAGMA journal_mode = WAL")
    try connection.transaction { () throws(SQLiteError) in
      try connection.execute(IndexSchema.statements)
      if hasBodies { try add(1, to: .unswept) }
      try connection.execute(
        "PRAGMA application_id = \(IndexSchema.application); PRAGMA user_version = \(IndexSchema.version)"
      )
    }
  }
}
