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

  /// Sets what concerns writing and is not kept in the file; once, and never for those who only look.
  ///
  /// Nothing is waited for to reach the disk: a kill loses nothing by that, and what a power cut tears is told by the
  /// checksums of rows and bodies and made anew from the catalogs. Waiting would stop transfers for tens of
  /// milliseconds time and again.
  func prepareToWrite() throws(SQLiteError) {
    guard !isPreparedToWrite else { return }
    try connection.execute(
      "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = \(IndexSchema.checkpointPages); "
        + "PRAGMA journal_size_limit = \(IndexSchema.greatestLog)"
    )
    isPreparedToWrite = true
  }

  /// Brings a schema that an earlier version has made up to ours; all of it or nothing.
  ///
  /// - Throws: ``SQLiteError``; the index is as before then, and can be read as it is.
  func upgrade() throws(SQLiteError) {
    try prepareToWrite()
    try connection.transaction { () throws(SQLiteError) in
      // Another process may have done it meanwhile.
      let version = max(1, try number("PRAGMA user_version"))
      guard version < IndexSchema.version else { return }
      for step in IndexSchema.upgrades[(version - 1)...] { try connection.execute(step) }
      try connection.execute("PRAGMA user_version = \(IndexSchema.version)")
    }
  }

  /// Makes sure that no later version has changed the schema since the index was opened.
  ///
  /// - Throws: ``SQLiteError`` that is not taken for damage.
  func checkVersion() throws(SQLiteError) {
    let version = try number("PRAGMA user_version")
    if version > IndexSchema.version { throw .newer(version) }
  }

  /// Writes something, whatever there is to write, so that no commit of a dead process comes to count later.
  ///
  /// One that was killed at its very end is whole in SQLite's log, but nobody has been told of it. It counts once that
  /// log is read from its start, when all have closed the index, unless another commit has been written over it.
  func overrule() throws(SQLiteError) {
    try connection.execute("PRAGMA user_version = \(IndexSchema.version)")
  }

  /// Makes the schema in an empty database.
  ///
  /// - Parameter unread: The shards whose catalogs tell of bodies that are there already.
  /// - Throws: ``SQLiteError``; the database is empty as before then.
  func create(unread: [Shard]) throws(SQLiteError) {
    try prepareToWrite()
    try connection.execute("PRAGMA page_size = \(IndexSchema.pageSize); PRAGMA journal_mode = WAL")
    try connection.transaction { () throws(SQLiteError) in
      try connection.execute(IndexSchema.statements)
      let insert = try connection.statement("INSERT INTO unread VALUES (?1)")
      for shard in unread { try insert.run([.integer(Int(shard.number))]) }
      try connection.execute(
        "PRAGMA application_id = \(IndexSchema.application); PRAGMA user_version = \(IndexSchema.version)"
      )
    }
  }
}
