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

  /// Sets what SQLite does not keep in the file.
  ///
  /// A power cut may lose what was written last, never what was checkpointed; a kill loses nothing.
  func configure() throws(SQLiteError) {
    try connection.execute(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = \(IndexSchema.checkpointPages)"
    )
  }

  /// Makes the schema in an empty database.
  ///
  /// - Parameter unread: The shards whose catalogs tell of bodies that are there already.
  /// - Throws: ``SQLiteError``; the database is empty as before then.
  func create(unread: [Shard]) throws(SQLiteError) {
    try configure()
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
