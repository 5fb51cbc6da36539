package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
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
    let filled = try pool.read { index throws(SQLiteError) -> CacheInfo in
      var info = empty
      for position in info.shares.indices { try Self.fill(&info.shares[position], from: index) }
      try Self.fill(&info.pinned, from: index)
      let uses = try index.useRange()
      info.oldestUse = uses.map { Double($0.lowerBound) }
      info.newestUse = uses.map { Double($0.upperBound) }
      info.hits = try index.count(of: .hits)
      info.misses = try index.count(of: .misses)
      // An estimate, as reading all sizes would take too long: on average, half of a last block is empty.
      var responses = CacheInfo.Share(budget: .responses, entries: 0, size: ByteCount(0), limit: ByteCount(0))
      try Self.fill(&responses, from: index)
      let entries = min(info.entries + responses.entries, 1 << 40)
      let size = info.size.bytes + responses.size.bytes
      let blocks = max(entries * blockSize, size + entries * blockSize / 2)
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
    let isThere = try pool.read { index throws(SQLiteError) in
      for key in keys {
        if try index.glance(at: key) != nil { return true }
        if try index.isPinAwaited(for: key) { return true }
      }
      return false
    }
    guard isThere == true else { return false }
    try beginWritingOrRefuse()
    let removed = try pool.write { index throws(SQLiteError) in
      var removed: [BodyName] = []
      for key in keys {
        try index.removeAwaitedPin(for: key)
        guard let record = try index.entry(of: key)?.record, try index.delete(record) else { continue }
        removed.append(record.body)
      }
      return removed
    }
    folder.remove(removed)
    return !removed.isEmpty
  }

  /// Removes every image, pinned ones too, also where the index is damaged; nothing that the cache has not made.
  ///
  /// Images that any process is loading meanwhile are not kept.
  ///
  /// - Throws: ``CacheError`` when something could not be removed. The rest has been removed then.
  package func clear() throws(CacheError) {
    guard folder.exists(folder.path) else { return }
    // The index goes first, as rows go before their bodies.
    try pool.removeIndex()
    endWriting()
    sweepIncoming()
    for name in (try? CacheFolder.names(in: folder.incoming)) ?? [] where name.hasSuffix(WriterSession.ending)
    {
      removeIfAbandoned("\(folder.incoming)/\(name)")
    }
    var trouble: FileFault?
    for shard in Shard.all where folder.exists(folder.folder(of: shard)) {
      do throws(FileFault) { try folder.clear(shard) } catch { trouble = trouble ?? error }
    }
    clearBeginnings()
    for path in [folder.bodies, folder.incoming] { rmdir(path) }
    if let trouble { throw CacheError(.folder, trouble.description) }
  }
}

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
    let stored = try pool.read { index throws(SQLiteError) in try Self.stored(index) }
    for budget in Budget.evictable where stored != nil {
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
    try beginWritingOrRefuse()
    while true {
      let removal = try pool.write { index throws(SQLiteError) in try step(index) }
      folder.remove(removal.bodies)
      trimming.entries += removal.bodies.count
      trimming.size = ByteCount(trimming.size.bytes + removal.bytes)
      guard progress(trimming.entries) else { return false }
      guard removal.isUnfinished else { return true }
    }
  }
}

extension DiskCache {
  /// Reads every body, removes those that are missing or were changed, and brings the rest into accord.
  ///
  /// - Parameter progress: Is told how many of about how many have been read; returns whether to go on.
  /// - Returns: What was found, up to where it was stopped.
  /// - Throws: ``CacheError`` when the index cannot be read.
  package func verify(
    progress: (_ done: Int, _ count: Int) -> Bool = { _, _ in true }
  ) throws(CacheError) -> CacheVerification {
    var result = CacheVerification()
    let counted = try pool.read { index throws(SQLiteError) -> Int in
      var count = 0
      for budget in Budget.images { count += min(max(0, try index.total(of: budget).entries), 1 << 40) }
      return count
    }
    guard folder.exists(folder.bodies) else { return result }
    let total = counted ?? 0
    sweepIncoming()
    var done = 0
    for shard in Shard.all {
      // One shard at a time, so that memory does not grow with what is stored.
      let entries = try pool.read { index throws(SQLiteError) in try index.entries(in: shard) } ?? []
      // A response is verified whenever it is read.
      for entry in entries where !entry.record.isResponse {
        guard progress(done, max(total, done)) else { return result }
        check(entry.record, &result)
        done += 1
      }
    }
    // Where nothing can be written, nothing was changed either.
    if (try? beginWriting()) != nil { _ = sweep() }
    _ = progress(done, done)
    return result
  }

  private func check(_ record: EntryRecord, _ result: inout CacheVerification) {
    switch StoredBody.read(record, path: folder.path(of: record.body)) {
    case .whole: result.whole += 1
    case .unreadable: result.unreadable.append(VariantKey.url(record.key))
    case .wrong:
      do throws(CacheError) {
        // Otherwise another image has taken its place, which its writer has just checked.
        try beginWritingOrRefuse()
        let isRemoved = try pool.write { index throws(SQLiteError) in
          try index.delete(record, keepsPin: true)
        }
        guard isRemoved else { return }
        folder.remove([record.body])
        result.removed.append(VariantKey.url(record.key))
      } catch {
        result.damaged.append(VariantKey.url(record.key))
      }
    }
  }
}

/// What the cache does when it finds the disk full, because others have filled it.
///
/// Before that, each image that is stored makes room by ``DiskRoom``; but nothing can be stored on a full disk.
extension DiskCache {
  /// The error for a file that cannot be written; where the disk is full, room is made for the next one.
  ///
  /// - Parameters:
  ///   - fault: What happened.
  ///   - code: What it happened to.
  ///   - size: What was to be written, in bytes.
  /// - Returns: With the system's reason.
  func refusal(_ fault: FileFault, _ code: CacheError.Code, size: Int) -> CacheError {
    if fault.isDiskFull { giveWay(atLeast: max(size, Self.leastRoom)) }
    return CacheError(code, fault.description, isDiskFull: fault.isDiskFull)
  }

  /// Removes what was used least, as much as others need of the disk; bodies first, as without room no row can go.
  ///
  /// A row without its body counts as absent. Should a kill leave it, the next read of it or the next sweep removes it.
  ///
  /// - Parameter bytes: No less than that, for quotas, of which the file system does not tell, and for the index: as it
  ///   is closed when it finds no room, what it had of the disk then looks free.
  func giveWay(atLeast bytes: Int = 0) {
    var wanted = max(folder.room()?.deficit ?? 0, bytes)
    guard wanted > 0 else { return }
    // What was never shown goes first.
    wanted -= min(wanted, giveBackBeginnings(wanted).bytes)
    while wanted > 0, !giveBack(wanted), (folder.room()?.available ?? .max) < Self.leastRoom {
      // Not even the index had room to note that, as its log and what processes share of it take some: twice as much.
      wanted = min(wanted, Int.max / 2) * 2
    }
  }

  /// Whether nothing is left to be done: bodies that take so many bytes have gone with their rows, or there are none.
  private func giveBack(_ bytes: Int) -> Bool {
    let found = try? pool.read { index throws(SQLiteError) in
      // Those that went before and could not be noted count no more.
      try index.leastUsed(bytes) { folder.size(of: $0.body) != nil }
    }
    guard let records = found ?? nil, records.contains(where: { folder.size(of: $0.body) != nil }) else {
      return true
    }
    folder.remove(records.map(\.body))
    let isNoted = pool.touch { index throws(SQLiteError) in
      for record in records { try index.delete(record) }
      return true
    }
    return isNoted != nil
  }

  /// Removes beginnings, the oldest first, until so many bytes have gone; those that did.
  func giveBackBeginnings(_ bytes: Int) -> [BeginningFile] {
    var given: [BeginningFile] = []
    for beginning in folder.beginnings().reversed() where given.bytes < bytes {
      if unlink(beginning.path) == 0 { given.append(beginning) }
    }
    return given
  }

  /// A full disk gives back as much in one go, so that the next image finds room.
  ///
  /// More than the index takes when it is opened (32 KiB to share between processes) and notes a few images in its log.
  static let leastRoom = 128 << 10
}
