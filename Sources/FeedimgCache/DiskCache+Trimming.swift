package import FeedimgModel

extension DiskCache {
  /// Removes what exceeds the limits and what has not been used for too long, and more on request.
  ///
  /// - Parameters:
  ///   - size: As much as all images and beginnings may take afterwards, or fewer bytes: first beginnings go, the
  ///     oldest before others, then originals, the least recently used before others, then thumbnails, never what is
  ///     pinned. Nil for no more than the limits ask for.
  ///   - progress: Is told how many entries have gone; returns whether to go on.
  /// - Returns: What was removed, up to where it was stopped.
  /// - Throws: ``CacheError`` when the index cannot be written. What was removed stays removed.
  @discardableResult
  package func trim(
    to size: ByteCount? = nil,
    progress: (_ removed: Int) -> Bool = { _ in true }
  ) throws(CacheError) -> CacheTrimming {
    let limits = limits
    let expiry = expiry
    var trimming = CacheTrimming()
    let stored = try read(of: Shard.all) { index throws(SQLiteError) in try Self.stored(index) }
    for budget in Budget.yielding where stored != nil {
      let isFinished = try remove(counting: &trimming, progress) { index throws(SQLiteError) in
        var removal = try index.makeRoom(for: 0, of: budget, limit: limits[budget])
        let unused = try index.removeUnused(since: expiry, of: budget, atMost: CacheIndex.greatestCount)
        removal.add(unused)
        return removal
      }
      guard isFinished else { return trimming }
    }
    guard let size else { return trimming }
    let left = try pool.read { index throws(SQLiteError) in try Self.stored(index) } ?? 0
    let unfinished = trimBeginnings(to: size.bytes - min(left, size.bytes), counting: &trimming)
    guard stored != nil else { return trimming }
    _ = try remove(counting: &trimming, progress) { index throws(SQLiteError) in
      try index.giveBack(try Self.stored(index) + unfinished - size.bytes, isExact: true)
    }
    trimming.pinned = ByteCount(
      try pool.read { index throws(SQLiteError) in try index.total(of: .pinned).bytes } ?? 0
    )
    return trimming
  }

  /// What all images take.
  private static func stored(_ index: CacheIndex) throws(SQLiteError) -> Int {
    var stored = 0
    for budget in Budget.allCases { stored += min(max(0, try index.total(of: budget).bytes), 1 << 60) }
    return stored
  }

  /// Removes beginnings, the oldest first, until they take no more; what they take then.
  private func trimBeginnings(to size: Int, counting trimming: inout CacheTrimming) -> Int {
    let before = folder.beginnings().bytes
    trimming.beginnings = giveBackBeginnings(max(0, before - size)).count
    let after = folder.beginnings().bytes
    trimming.size = ByteCount(trimming.size.bytes + max(0, before - after))
    return after
  }

  /// Removes step by step what the body takes out of the index; whether to its end.
  private func remove(
    counting trimming: inout CacheTrimming,
    _ progress: (Int) -> Bool,
    _ step: (CacheIndex) throws(SQLiteError) -> CacheIndex.Removal
  ) throws(CacheError) -> Bool {
    let log = log()
    defer { withExtendedLifetime(log) {} }
    while true {
      let removal = try pool.write { index throws(SQLiteError) in
        let removal = try step(index)
        log?.note(removal.bodies, .going)
        return removal
      }
      folder.remove(removal.bodies)
      trimming.entries += removal.bodies.count
      trimming.size = ByteCount(trimming.size.bytes + removal.bytes)
      guard progress(trimming.entries) else { return false }
      guard removal.isUnfinished else { return true }
    }
  }
}
