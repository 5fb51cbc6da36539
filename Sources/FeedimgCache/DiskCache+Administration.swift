package import FeedimgModel
import Glibc

extension DiskCache {
  /// What is stored, and the limits; an empty account where there is no cache, which then is not made.
  ///
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func info() throws(CacheError) -> CacheInfo {
    writeLedger()
    var empty = CacheInfo(folder: folder.path, limits: limits)
    let beginnings = folder.beginnings()
    empty.beginnings.count = beginnings.count
    empty.beginnings.size = ByteCount(beginnings.bytes)
    let blockSize = folder.blockSize
    let filled = try read(of: Shard.all) { index throws(SQLiteError) -> CacheInfo in
      var info = empty
      for position in info.shares.indices { try Self.fill(&info.shares[position], from: index) }
      try Self.fill(&info.pinned, from: index)
      let uses = try index.useRange()
      info.oldestUse = uses.map { Double($0.lowerBound) }
      info.newestUse = uses.map { Double($0.upperBound) }
      info.hits = try index.count(of: .hits)
      info.misses = try index.count(of: .misses)
      // Going through all sizes would take the longer the more is stored. On average, half of a last block is empty.
      let entries = min(info.entries, 1 << 40)
      let blocks = max(entries * blockSize, info.size.bytes + entries * blockSize / 2)
      info.sizeOnDisk = ByteCount(blocks + info.beginnings.size.bytes + folder.bookkeepingSize)
      return info
    }
    return filled ?? empty
  }

  private static func fill(_ share: inout CacheInfo.Share, from index: CacheIndex) throws(SQLiteError) {
    let total = try index.total(of: share.budget)
    // What a damaged total says must not overflow a sum.
    share.entries = min(max(0, total.entries), 1 << 50)
    share.size = ByteCount(min(total.bytes, 1 << 60))
  }

  /// Removes what is kept of a key, pinned or not: every variant.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: ``CacheError`` when the index cannot be written.
  @discardableResult
  package func remove(_ key: String) throws(CacheError) -> Bool {
    let keys = VariantKey.all(key)
    let found = try read(for: keys) { index throws(SQLiteError) in
      var records: [EntryRecord] = []
      for key in keys { if let record = try index.entry(of: key)?.record { records.append(record) } }
      return records
    }
    guard let records = found, !records.isEmpty else { return false }
    let log = log()
    defer { withExtendedLifetime(log) {} }
    let removed = try pool.write { index throws(SQLiteError) in
      log?.note(records.map(\.body), .going)
      var removed: [BodyName] = []
      for record in records where try index.delete(record) { removed.append(record.body) }
      return removed
    }
    folder.remove(removed)
    return !removed.isEmpty
  }

  /// Removes every image, pinned ones too, also where the index is damaged; nothing that the cache has not made.
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
    clearBeginnings()
    for path in [folder.bodies, folder.incoming] { rmdir(path) }
    if let trouble { throw CacheError(.folder, trouble.description) }
  }
}
