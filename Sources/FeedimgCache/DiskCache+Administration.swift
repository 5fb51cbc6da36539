package import FeedimgModel
import Glibc

extension DiskCache {
  /// What is stored, and the limits; an empty account where there is no cache, which then is not made.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func info() throws(CacheError) -> CacheInfo {
    writeLedger()
    let limits = limits
    var info = CacheInfo(
      folder: folder.path,
      shares: ImageVariant.Role.allCases.map {
        CacheInfo.Share(role: $0, entries: 0, size: ByteCount(0), limit: limits[$0])
      },
      unusedDays: limits.unusedDays,
      hits: 0,
      misses: 0
    )
    let filled = try read(of: Shard.all) { index throws(SQLiteError) -> CacheInfo in
      for position in info.shares.indices {
        let total = try index.total(of: info.shares[position].role)
        info.shares[position].entries = min(max(0, total.entries), 1 << 50)
        info.shares[position].size = ByteCount(min(total.bytes, 1 << 60))
      }
      let uses = try index.useRange()
      info.oldestUse = uses.map { Double($0.lowerBound) }
      info.newestUse = uses.map { Double($0.upperBound) }
      info.hits = try index.count(of: .hits)
      info.misses = try index.count(of: .misses)
      return info
    }
    return filled ?? info
  }

  /// What is stored, from the most recently used on; bodies are not looked at.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func list() throws(CacheError) -> [StoredImage] {
    writeLedger()
    let entries = try read(of: Shard.all) { index throws(SQLiteError) in try index.list() }
    return (entries ?? []).map {
      $0.record.storedImage(path: folder.path(of: $0.record.body), usedAt: Double($0.usedAt))
    }
  }

  /// Removes the image of a key.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: ``CacheError`` when the index cannot be written.
  @discardableResult
  package func remove(_ key: String) throws(CacheError) -> Bool {
    let found = try read(for: [key]) { index throws(SQLiteError) in try index.entry(of: key) }
    guard let record = (found ?? nil)?.record else { return false }
    let log = log()
    let isRemoved = try pool.write { index throws(SQLiteError) in
      log?.note([record.body], .going)
      return try index.delete(record)
    }
    if isRemoved { folder.remove([record.body]) }
    return isRemoved
  }

  /// Removes every image, also where the index is damaged; nothing that the cache has not made.
  ///
  /// - Throws: ``CacheError`` when something could not be removed. The rest has been removed then.
  package func clear() throws(CacheError) {
    guard folder.exists(folder.path) else { return }
    // The index goes first, as rows go before their bodies.
    try pool.removeIndex()
    endLog()
    sweepIncoming()
    var trouble: FileFault?
    for shard in Shard.all where folder.exists(folder.folder(of: shard)) {
      do throws(FileFault) { try folder.clear(shard) } catch { trouble = trouble ?? error }
    }
    for path in [folder.bodies, folder.incoming] { rmdir(path) }
    if let trouble { throw CacheError(.folder, trouble.description) }
  }

  /// Removes what exceeds the limits and what has not been used for too long.
  ///
  /// - Returns: How many images were removed.
  /// - Throws: ``CacheError`` when the index cannot be written. What was removed stays removed.
  @discardableResult
  package func trim() throws(CacheError) -> Int {
    let limits = limits
    let expiry = expiry
    guard try read(of: Shard.all, { _ throws(SQLiteError) in true }) != nil else { return 0 }
    var count = 0
    let log = log()
    for role in ImageVariant.Role.allCases {
      while true {
        let removal = try pool.write { index throws(SQLiteError) in
          var removal = try index.makeRoom(for: 0, of: role, limit: limits[role])
          let unused = try index.removeUnused(since: expiry, of: role, atMost: 256)
          removal.bodies += unused
          removal.isUnfinished = removal.isUnfinished || unused.count == 256
          log?.note(removal.bodies, .going)
          return removal
        }
        folder.remove(removal.bodies)
        count += removal.bodies.count
        guard removal.isUnfinished else { break }
      }
    }
    return count
  }

  /// Reads every body, removes those that are missing or were changed, and brings the rest into accord.
  ///
  /// - Parameter progress: Is told how many of how many have been read; returns whether to go on.
  /// - Returns: What was found, up to where it was stopped.
  /// - Throws: ``CacheError`` when the index cannot be read or written.
  package func verify(
    progress: (_ done: Int, _ count: Int) -> Bool = { _, _ in true }
  ) throws(CacheError) -> CacheVerification {
    var result = CacheVerification()
    let entries = try read(of: Shard.all) { index throws(SQLiteError) in try index.list() } ?? []
    guard !entries.isEmpty || folder.exists(folder.bodies) else { return result }
    for (done, entry) in entries.enumerated() {
      guard progress(done, entries.count) else { return result }
      switch StoredBody.read(entry.record, path: folder.path(of: entry.record.body)) {
      case .whole: result.whole += 1
      case .unreadable: result.unreadable.append(entry.record.key)
      case .wrong: if remove(entry.record) { result.removed.append(entry.record.key) }
      }
    }
    sweepIncoming()
    for shard in Shard.all { result.restored += try visit(shard) }
    try pool.write { index throws(SQLiteError) in try index.recount() }
    _ = progress(entries.count, entries.count)
    return result
  }
}
