package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc

extension DiskCache {
  /// The contents and limits of the cache.
  ///
  /// A missing cache is not created.
  ///
  /// - Throws: ``CacheError`` if the index cannot be read.
  package func info() throws(CacheError) -> CacheInfo {
    writeLedger()
    let limits = limits
    var empty = CacheInfo(folder: folder.path, limits: limits)
    let partialDownloads = folder.partialDownloads()
    empty.partialDownloads.entries = partialDownloads.count
    empty.partialDownloads.size = ByteCount(partialDownloads.bytes)
    let blockSize = folder.blockSize
    let filled = try pool.read { index throws(SQLiteError) -> CacheInfo in
      var info = empty
      info.originals = try index.part(.originals, limits)
      info.thumbnails = try index.part(.thumbnails, limits)
      info.pinned = try index.part(.pinned, limits)
      let uses = try index.useRange()
      info.oldestUse = uses.map { Double($0.lowerBound) }
      info.newestUse = uses.map { Double($0.upperBound) }
      info.hits = try index.count(of: .hits)
      info.misses = try index.count(of: .misses)
      // An estimate, as reading all sizes would take too long: on average, half of a last block is empty.
      let responses = try index.total(of: .responses)
      let entries = min(info.entries + responses.entries, 1 << 40)
      let size = info.size.bytes + responses.bytes
      let blocks = max(entries * blockSize, size + entries * blockSize / 2)
      info.sizeOnDisk = ByteCount(blocks + info.partialDownloads.size.bytes + folder.bookkeepingSize)
      return info
    }
    return filled ?? empty
  }

  /// Removes all variants of a key, pinned or not.
  ///
  /// - Returns: Whether there were any.
  /// - Throws: ``CacheError`` if the index cannot be written.
  @discardableResult
  package func remove(_ key: String) throws(CacheError) -> Bool {
    let keys = VariantKey.all(key)
    let isThere = try pool.read { index throws(SQLiteError) in
      for key in keys {
        if try index.entry(of: key) != nil { return true }
        if try index.isPinAwaited(for: key) { return true }
      }
      return false
    }
    guard isThere == true else { return false }
    try beginWritingOrRefuse()
    let (removed, isFound) = try pool.write { index throws(SQLiteError) in
      var removed: [BodyName] = []
      for key in keys {
        try index.removeAwaitedPin(for: key)
        guard let record = try index.entry(of: key)?.record, try index.delete(record) else { continue }
        removed.append(record.body)
      }
      let isFound = !removed.isEmpty
      for key in keys { removed += try index.removeReplaced(of: key).bodies }
      return (removed, isFound)
    }
    folder.remove(removed)
    return isFound
  }

  /// Removes the images and responses of a URL for a user, with their variants and partial downloads.
  ///
  /// Removes those of all accounts. All processes drop the images in their memory.
  ///
  /// - Returns: Whether the disk had an image or a response.
  /// - Throws: ``CacheError`` if the index cannot be read or written. Removed images stay removed.
  package func removeEverywhere(_ url: String) throws(CacheError) -> Bool {
    guard folder.exists(folder.path) else { return false }
    // First, so that an image that is loading now is not stored.
    try countRemoval()
    var isRemoved = false
    for key in try keys(of: url) + keys(of: ResponseKey.text(url)) where try remove(key) { isRemoved = true }
    recoverPartialDownloads()
    removePartialDownloads(ofURL: url)
    // Again at the end, for processes that read the image meanwhile.
    try countRemoval()
    return isRemoved
  }

  private func countRemoval() throws(CacheError) {
    do throws(FileError) { try removalCount.add() } catch { throw CacheError(error.description) }
  }

  /// Removes all entries, pinned ones too, even if the index is damaged.
  ///
  /// Foreign files remain.
  ///
  /// Images that a process is loading meanwhile are not stored, and all processes drop the images in memory.
  ///
  /// - Throws: ``CacheError`` if a file could not be removed. All others are removed.
  package func clear() throws(CacheError) {
    guard folder.exists(folder.path) else { return }
    // The index goes first, because rows are removed before their bodies.
    try pool.removeIndex { () throws(FileError) in try removalCount.add() }
    // Again at the end, for processes that read an image meanwhile.
    defer { try? removalCount.add() }
    endWriting()
    sweepIncoming()
    for name in (try? CacheFolder.names(in: folder.incoming)) ?? [] where name.hasSuffix(WriterSession.ending)
    {
      let path = "\(folder.incoming)/\(name)"
      if isAbandoned(path) { unlink(path) }
    }
    var fault: FileError?
    for shard in Shard.all where folder.exists(folder.folder(of: shard)) {
      do throws(FileError) { try folder.clear(shard) } catch { fault = fault ?? error }
    }
    clearPartialDownloads()
    for path in [folder.bodies, folder.incoming] { rmdir(path) }
    if let fault { throw CacheError(fault.description) }
  }
}

extension CacheIndex {
  fileprivate func part(_ budget: Budget, _ limits: CacheLimits) throws(SQLiteError) -> CacheInfo.Part {
    let total = try total(of: budget)
    return CacheInfo.Part(entries: total.entries, size: ByteCount(total.bytes), limit: limits[budget])
  }
}

extension DiskCache {
  /// Removes expired entries, old replaced bodies and what exceeds the limits, and more if `size` asks for it.
  ///
  /// - Parameters:
  ///   - size: The most bytes that all entries and partial downloads may take. Removes all replaced bodies, then the
  ///     oldest partial downloads, then the least recently used entries in the order of ``Budget/evictable``. Pinned
  ///     images remain. Nil to apply the limits only.
  ///   - progress: Gets the number of removed entries.
  /// - Returns: The number and the size of the removed entries.
  /// - Throws: ``CacheError`` if the index cannot be written. Removed entries stay removed.
  @discardableResult
  package func trim(
    to size: ByteCount? = nil,
    progress: (_ removed: Int) -> Void = { _ in }
  ) throws(CacheError) -> CacheTrimming {
    let (limits, expiry) = (limits, expiry)
    var trimming = CacheTrimming()
    let stored = try pool.read { index throws(SQLiteError) in try Self.stored(index) }
    for budget in Budget.evictable where stored != nil {
      try remove(counting: &trimming, progress) { index throws(SQLiteError) in
        let (count, now) = (CacheIndex.maximumCount, now)
        let replacedBefore = size == nil ? now - CacheLimits.replacedSeconds : now
        var removal = try index.removeReplaced(before: replacedBefore, now: now)
        removal.add(try index.makeRoom(of: budget, limit: limits[budget], atMost: count))
        removal.add(try index.removeOldest(of: budget, unusedSince: expiry, atMost: count))
        return removal
      }
    }
    guard let size else { return trimming }
    let left = try pool.read { index throws(SQLiteError) in try Self.stored(index) } ?? 0
    let unfinished = trimPartialDownloads(to: size.bytes - min(left, size.bytes), counting: &trimming)
    guard stored != nil else { return trimming }
    try remove(counting: &trimming, progress) { index throws(SQLiteError) in
      try index.evict(try Self.stored(index) + unfinished - size.bytes, atMost: CacheIndex.maximumCount)
    }
    trimming.pinned = ByteCount(
      try pool.read { index throws(SQLiteError) in try index.total(of: .pinned).bytes } ?? 0
    )
    return trimming
  }

  /// The bytes of all entries.
  private static func stored(_ index: CacheIndex) throws(SQLiteError) -> Int {
    var stored = 0
    for budget in Budget.allCases { stored += try index.total(of: budget).bytes }
    return stored
  }

  /// Removes the oldest partial downloads until the rest take at most `size` bytes, and returns their size.
  private func trimPartialDownloads(to size: Int, counting trimming: inout CacheTrimming) -> Int {
    let before = folder.partialDownloads().bytes
    trimming.partialDownloads = evictPartialDownloads(max(0, before - size)).count
    let after = folder.partialDownloads().bytes
    trimming.size = ByteCount(trimming.size.bytes + max(0, before - after))
    return after
  }

  /// Repeats a step until it removes nothing.
  private func remove(
    counting trimming: inout CacheTrimming,
    _ progress: (Int) -> Void,
    _ step: (CacheIndex) throws(SQLiteError) -> CacheIndex.Removal
  ) throws(CacheError) {
    try beginWritingOrRefuse()
    while true {
      let removal = try pool.write { index throws(SQLiteError) in try step(index) }
      folder.remove(removal.bodies)
      trimming.entries += removal.entries
      trimming.size = ByteCount(trimming.size.bytes + removal.bytes)
      progress(trimming.entries)
      if removal.bodies.isEmpty { return }
    }
  }
}

extension DiskCache {
  /// Reads every image, removes those that are missing or altered, and sweeps.
  ///
  /// - Parameter progress: Gets the number of images read and about how many there are.
  /// - Returns: The numbers and keys of the images.
  /// - Throws: ``CacheError`` if the index cannot be read.
  package func verify(
    progress: (_ done: Int, _ count: Int) -> Void = { _, _ in }
  ) throws(CacheError) -> CacheVerification {
    var result = CacheVerification()
    let total = try info().entries
    guard folder.exists(folder.bodies) else { return result }
    sweepIncoming()
    var done = 0
    // A response of `GET /v1/fetch` is verified when it is read.
    try forEachEntry(by: .used) { entry in
      progress(done, max(total, done))
      check(entry.record, &result)
      done += 1
      return true
    }
    if (try? beginWriting()) != nil { _ = sweep() }
    progress(done, done)
    return result
  }

  private func check(_ record: EntryRecord, _ result: inout CacheVerification) {
    switch StoredBody.read(record, path: folder.path(of: record.body)) {
    case .whole: result.whole += 1
    case .unreadable: result.unreadable.append(VariantKey.url(record.key))
    case .wrong:
      do throws(CacheError) {
        // Unless another image has replaced this one meanwhile.
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

extension CacheError {
  init(_ fault: FileError) { self.init(fault.description, isDiskFull: fault.isDiskFull) }
}

/// Evicts when other programs have filled the disk.
///
/// Each commit leaves the reserve of ``FreeSpace`` free. This is for a disk that is full nevertheless.
extension DiskCache {
  /// The error for a file or folder that cannot be made; on a full disk, evicts for the next attempt.
  func evictIfFull(after fault: FileError) -> CacheError {
    if fault.isDiskFull { evict(atLeast: Self.minimumRoom) }
    return CacheError(fault)
  }

  /// Evicts as many bytes as ``FreeSpace`` and `bytes` ask for.
  ///
  /// Bodies go first, because a full disk cannot remove rows. A row without its body counts as absent. After a kill,
  /// the next read or sweep removes it.
  ///
  /// - Parameter bytes: The least bytes to evict. The free space does not show quotas, nor that the index needs space
  ///   again when it is opened.
  func evict(atLeast bytes: Int = 0) {
    var wanted = max(folder.freeSpace()?.deficit ?? 0, bytes)
    guard wanted > 0 else { return }
    // Partial downloads go first, as no client has shown them, then replaced bodies.
    wanted -= min(wanted, evictPartialDownloads(wanted).bytes)
    if wanted > 0 { wanted -= min(wanted, evictReplaced()) }
    while wanted > 0, !evictBodies(wanted), (folder.freeSpace()?.available ?? .max) < Self.minimumRoom {
      // The index had no space to record that, for its log and its shared memory: evict twice as much.
      wanted = min(wanted, Int.max / 2) * 2
    }
  }

  /// Removes bodies of so many bytes, then their rows; true if the rows were removed too, or nothing is left.
  private func evictBodies(_ bytes: Int) -> Bool {
    var (bodies, rest): ([BodyName], Int) = ([], bytes)
    _ = try? pool.read { index throws(SQLiteError) in
      for budget in Budget.evictable where rest > 0 {
        try index.forEachBody(of: budget) { body in
          bodies.append(body)
          // A body that was removed before without its row frees nothing.
          rest -= min(rest, folder.size(of: body) ?? 0)
          return rest > 0
        }
      }
    }
    guard rest < bytes else { return true }
    folder.remove(bodies)
    return pool.writeIfIdle { index throws(SQLiteError) in try index.delete(bodies) } != nil
  }

  /// Removes the oldest partial downloads until so many bytes are free, and returns those removed.
  func evictPartialDownloads(_ bytes: Int) -> [PartialDownloadFile] {
    var removed: [PartialDownloadFile] = []
    for file in folder.partialDownloads().reversed() where removed.bytes < bytes {
      if unlink(file.path) == 0 { removed.append(file) }
    }
    return removed
  }

  /// The least that a full disk evicts, so that the next image fits.
  ///
  /// It exceeds what the index needs to open (32 KiB of shared memory) and to log a few images.
  static let minimumRoom = 128 << 10
}
