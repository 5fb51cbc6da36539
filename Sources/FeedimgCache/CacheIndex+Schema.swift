extension CacheIndex {
  /// What a database is to us.
  enum Standing {
    case ours
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
      return version > IndexSchema.version ? .newer(version) : .ours
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
      "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = \(IndexSchema.checkpointPages)"
    )
    isPreparedToWrite = true
  }

  /// Makes the schema in an empty database.
  ///
  /// - Parameter unread: The shards whose catalogs tell of bodies that are there already.
  /// - Throws: ``SQLiteError``; the database is empty as before then.
  func create(unread: [Shard]) throws(SQLiteError) {
    try connection.execute("PRAGMA page_size = \(IndexSchema.pageSize); PRAGMA journal_mode = WAL")
    try transaction { () throws(SQLiteError) in
      try connection.execute(IndexSchema.statements)
      let insert = try connection.statement("INSERT INTO unread VALUES (?1)")
      for shard in unread { try insert.run([.integer(Int(shard.number))]) }
      try connection.execute(
        "PRAGMA application_id = \(IndexSchema.application); PRAGMA user_version = \(IndexSchema.version)"
      )
    }
  }
}
