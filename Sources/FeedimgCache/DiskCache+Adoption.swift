import FeedimgModel
import Glibc

/// Makes a lost index again from the catalogs, shard by shard, when each is needed first.
extension DiskCache {
  /// Runs the body once the rows of these keys are all there.
  func read<Answer>(
    for keys: [String],
    _ body: (CacheIndex) throws(SQLiteError) -> Answer
  ) throws(CacheError) -> Answer? {
    try pool.read { index throws(SQLiteError) in
      if index.mayHaveUnread {
        let unread = try index.unreadShards()
        for key in keys {
          let shard = Shard(keyHash: Checksum.of(key))
          if unread.contains(shard) { try adopt(shard, into: index) }
        }
      }
      return try body(index)
    }
  }

  /// Runs the body once the rows of these shards are all there.
  func read<Answer>(
    of shards: [Shard],
    _ body: (CacheIndex) throws(SQLiteError) -> Answer
  ) throws(CacheError) -> Answer? {
    try pool.read { index throws(SQLiteError) in
      if index.mayHaveUnread {
        for shard in try index.unreadShards() where shards.contains(shard) { try adopt(shard, into: index) }
      }
      return try body(index)
    }
  }

  /// Takes one more shard into an index that was lost, so that its limits soon hold for everything.
  func adoptOneShard() {
    _ = try? pool.read { index throws(SQLiteError) in
      guard index.mayHaveUnread, let shard = try index.unreadShards().first else { return }
      try adopt(shard, into: index)
    }
  }

  /// Takes in what the catalog of a shard tells, as far as the bodies are there, and removes those that others displaced.
  ///
  /// Where nothing can be written, or another is writing, it waits for the next time.
  private func adopt(_ shard: Shard, into index: CacheIndex) throws(SQLiteError) {
    guard !index.isReadOnly, let records = try? Catalog(path: folder.catalog(of: shard)).records() else {
      return
    }
    // The record of a key that was stored last wins.
    let present = records.values.filter { $0.body.shard == shard && folder.size(of: $0.body) == $0.size }
      .sorted { $0.storedAt > $1.storedAt }
    let log = log()
    defer { withExtendedLifetime(log) {} }
    do throws(SQLiteError) {
      let rest = try index.transaction { () throws(SQLiteError) in
        let rest = try index.adopt(present, of: shard)
        log?.note(rest, .going)
        return rest
      }
      for body in rest { removeAbandoned(body) }
    } catch {
      guard error.isBusy else { throw error }
    }
  }

  /// Removes a body whose key has another, unless its writer is alive and about to enter it.
  private func removeAbandoned(_ body: BodyName) {
    let path = folder.path(of: body)
    guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK), isAbandoned(file)
    else { return }
    unlink(path)
  }
}
