import FeedimgModel

extension DiskCache {
  /// Makes a written body the image of its key, and removes what no longer fits.
  func store(_ incoming: consuming IncomingBody, _ metadata: ImageMetadata) throws(CacheError) -> StoredImage
  {
    let limit = limits[Budget(metadata.role)]
    guard incoming.size <= limit.bytes else {
      let size = ByteCount(incoming.size).rounded
      throw CacheError(
        .body,
        "`\(metadata.key)` is not kept: it takes \(size), more than the \(limit.rounded) for all \(metadata.role)s"
      )
    }
    var metadata = metadata
    metadata.key = key(for: metadata)
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: incoming.size,
      checksum: incoming.checksum,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    return try store(incoming, record)
  }

  /// Makes a written body that of a record, and removes what no longer fits.
  func store(_ incoming: consuming IncomingBody, _ record: EntryRecord) throws(CacheError) -> StoredImage {
    let log = log()
    defer { withExtendedLifetime(log) {} }
    log?.note([record.body], .coming)
    do throws(FileFault) {
      try incoming.place(as: record.body, in: folder)
    } catch {
      throw refusal(error, .body, size: record.size)
    }
    let line = record.line
    // An entry that is missing in the catalog is lost only when the index is.
    try? Catalog(path: folder.catalog(of: record.body.shard)).append(line: line)
    let entered: EntryRecord
    do throws(CacheError) {
      entered = try enterGivingWay(record, line: line, log)
    } catch {
      folder.remove([record.body])
      throw error
    }
    // The last line of a body is the one that counts.
    if entered.isPinned {
      try? Catalog(path: folder.catalog(of: record.body.shard)).append(line: entered.line)
    }
    tidy(Tidying(after: record.body))
    return entered.storedImage(path: folder.path(of: record.body), usedAt: Double(now))
  }

  /// What came of an attempt to write a row.
  private enum Entering {
    case done(EntryRecord, CacheIndex.Removal)
    /// More has to give way first.
    case unfinished(CacheIndex.Removal)
    /// It would be pinned, as the one that it replaces is, and pinned images would exceed their limit.
    case pinsFull
  }

  /// The same as ``enter(_:line:_:)``, once more where the index had no room on the disk, after others gave way.
  private func enterGivingWay(
    _ record: EntryRecord,
    line: [UInt8],
    _ log: IntentLog?
  ) throws(CacheError) -> EntryRecord {
    do throws(CacheError) {
      return try enter(record, line: line, log)
    } catch {
      guard error.isForWantOfRoom else { throw error }
      giveWay(atLeast: Self.leastRoom)
      return try enter(record, line: line, log)
    }
  }

  /// Writes the row of a record, after removing those that must give way; the record, pinned if its forerunner was.
  private func enter(
    _ record: EntryRecord,
    line: [UInt8],
    _ log: IntentLog?
  ) throws(CacheError) -> EntryRecord {
    let now = now
    let expiry = expiry
    let limits = limits
    // Once, as what is given back shows only when it is unlinked.
    var deficit = folder.room()?.deficit ?? 0
    while true {
      let step = try pool.write { index throws(SQLiteError) -> Entering in
        let displaced = try index.entry(with: record.identifier)?.record
        let isPinned = record.isPinned || displaced.map { $0.isPinned && $0.key == record.key } ?? false
        let record = record.pinned(isPinned)
        if isPinned {
          let others = max(
            0,
            try index.total(of: .pinned).bytes - (displaced?.isPinned == true ? displaced?.size ?? 0 : 0)
          )
          guard record.size <= limits.pinned.bytes - min(others, limits.pinned.bytes) else {
            return .pinsFull
          }
        }
        if let displaced { try index.displace(displaced) }
        var removal = deficit > 0 ? try index.giveBack(deficit) : CacheIndex.Removal()
        // What others need is given back as far as one step goes; what must go from the budget, all of it.
        removal.isUnfinished = false
        // Who made a lost index again may have taken in this very body.
        if let displaced, displaced.body != record.body { removal.add(CacheIndex.Removal([displaced])) }
        if !isPinned {
          removal.add(try index.makeRoom(for: record.size, of: record.budget, limit: limits[record.budget]))
        }
        guard !removal.isUnfinished else {
          log?.note(removal.bodies, .going)
          return .unfinished(removal)
        }
        try index.insert(record, line: isPinned ? record.line : line, usedAt: now)
        for budget in Budget.yielding {
          removal.add(try index.removeUnused(since: expiry, of: budget, atMost: Eviction.step))
        }
        log?.note(removal.bodies, .going)
        return .done(record, removal)
      }
      switch step {
      case .done(let record, let removal):
        folder.remove(removal.bodies)
        return record
      case .unfinished(let removal):
        folder.remove(removal.bodies)
        deficit = 0
      case .pinsFull:
        throw CacheError(
          .body,
          "`\(record.key)` is not kept: with it, pinned images would take more than \(limits.pinned.rounded); "
            + "the earlier one stays"
        )
      }
    }
  }
}
