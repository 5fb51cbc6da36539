import FeedimgSQLite

/// The schema of the index.
enum IndexSchema {
  /// Marks the file as an index of feedimg: `fdig` (sqlite.org/pragma.html#pragma_application_id).
  static let application = 0x6664_6967
  /// Increased with each change.
  ///
  /// An index of a later version is not touched.
  static let version = 7
  /// In bytes.
  static let pageSize = 4096
  /// The pages in the log after which a commit writes them to the database and waits for the disk.
  ///
  /// An image takes three to four pages, so that one commit in 300 waits. On a small volume the log takes at most a
  /// 64th of it. On a full disk, entries that are only in the log can be neither read nor evicted.
  static func checkpointPages(_ space: FreeSpace?) -> Int {
    max(1, min(1024, (space?.size ?? .max) / 64 / pageSize))
  }
  /// The log is cut to this size after a long transaction; in bytes.
  static let maximumLog = 4 << 20

  /// Creates all tables in an empty database.
  ///
  /// `entry.id` is the hash of the key, so that a look-up needs no second index. All times except `used_at` are in
  /// milliseconds. `head` is a ``HeadLine``. `account` has the total of each ``Budget``, which `entry.budget` names,
  /// and the counters of ``CacheIndex/Tally``. Triggers keep the totals.
  ///
  /// `awaited_pin` has the keys whose pinned image was damaged, so that the next image is pinned. `replaced` has the
  /// bodies that a new version has replaced; `id` is the hash of the key, `at` is in seconds since 1970.
  static let statements = """
    CREATE TABLE awaited_pin (id INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT;
    CREATE TABLE replaced (
      file TEXT PRIMARY KEY, id INTEGER NOT NULL, budget INTEGER NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL
    ) STRICT;
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
      head TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entry_by_use ON entry (budget, used_at, size);
    CREATE TABLE account (
      line INTEGER PRIMARY KEY,
      count INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO account VALUES
      (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0);
    CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
      UPDATE account SET count = count + 1, bytes = bytes + new.size WHERE line = new.budget;
    END;
    CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
      UPDATE account SET count = count - 1, bytes = bytes - old.size WHERE line = old.budget;
    END;
    CREATE TRIGGER entry_moved AFTER UPDATE OF budget ON entry BEGIN
      UPDATE account SET count = count - 1, bytes = bytes - old.size WHERE line = old.budget;
      UPDATE account SET count = count + 1, bytes = bytes + new.size WHERE line = new.budget;
    END;
    """
}

extension CacheIndex {
  /// The kind of a database.
  enum Kind {
    case ours
    case empty
    case foreign
  }

  /// - Throws: ``SQLiteError``, also for the schema of another version.
  func kind() throws(SQLiteError) -> Kind {
    let application = try connection.number("PRAGMA application_id")
    let version = try connection.number("PRAGMA user_version")
    if application == IndexSchema.application {
      try checkVersion()
      guard version == IndexSchema.version else { throw .outdated }
      return .ours
    }
    let count = try connection.number("SELECT count(*) FROM sqlite_schema")
    return application == 0 && version == 0 && count == 0 ? .empty : .foreign
  }

  /// Prepares the connection for writing, once.
  ///
  /// With these settings, SQLite waits for the disk only at checkpoints. A kill loses nothing; a power cut may lose the
  /// last images.
  func prepareToWrite() throws(SQLiteError) {
    guard !isPreparedToWrite else { return }
    try connection.execute(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = \(checkpointPages); "
        // `INSERT OR REPLACE` must run the triggers of the replaced row, too.
        + "PRAGMA journal_size_limit = \(IndexSchema.maximumLog); PRAGMA recursive_triggers = ON"
    )
    isPreparedToWrite = true
  }

  /// The error for the schema of a later version; nil for another schema.
  var newerVersion: SQLiteError? {
    let version = (try? connection.number("PRAGMA user_version")) ?? 0
    return version > IndexSchema.version ? .newer(version, known: IndexSchema.version) : nil
  }

  /// Checks that no later version has changed the schema since the index was opened.
  ///
  /// - Throws: ``SQLiteError`` that does not count as damage.
  func checkVersion() throws(SQLiteError) { if let newerVersion { throw newerVersion } }

  /// Creates the schema in an empty database.
  ///
  /// - Parameter hasBodies: Whether there are bodies already, which then have no rows.
  /// - Throws: ``SQLiteError``; the database then stays empty.
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
