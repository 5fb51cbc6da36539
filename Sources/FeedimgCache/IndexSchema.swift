/// What the index consists of.
enum IndexSchema {
  /// Marks the file as ours (sqlite.org/pragma.html#pragma_application_id): `fdig`.
  static let application = 0x6664_6967
  /// Counted up with each change; an index of a later version is left alone.
  static let version = 2
  /// In bytes.
  static let pageSize = 4096
  /// After so many pages the log is taken into the database, so that a start after a kill reads little.
  static let checkpointPages = 256
  /// A log that a long transaction has made longer is cut again; in bytes.
  static let greatestLog = 4 << 20

  /// Makes everything in an empty database.
  ///
  /// `entry.id` is the hash of the key, so that look-ups need no second tree; `record` is a line of ``EntryRecord``.
  /// `account` has the totals of each ``Budget``, which `entry.role` names, and beside them the counters of
  /// ``CacheIndex/Tally``; triggers would keep it as well, at twice the price of a commit. `unread` names the shards
  /// whose catalogs have not been read into this index yet; there are some only after an index was lost.
  static let statements = """
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY,
      role INTEGER NOT NULL,
      size INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      hits INTEGER NOT NULL DEFAULT 0,
      record TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entry_by_use ON entry (role, used_at, size);
    CREATE TABLE account (
      line INTEGER PRIMARY KEY,
      count INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO account VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0);
    CREATE TABLE unread (shard INTEGER PRIMARY KEY) STRICT;
    """

  /// What makes each version from the one before it; the first is for version 1.
  ///
  /// Each only adds, so that an index which cannot be upgraded, as its disk is full or read-only, is read as it is.
  static let upgrades = [
    // Pinned images have a total of their own, and sizes are told without going through the records.
    """
    INSERT OR IGNORE INTO account VALUES (4, 0, 0);
    DROP INDEX IF EXISTS entry_by_use;
    CREATE INDEX entry_by_use ON entry (role, used_at, size);
    """
  ]
}
