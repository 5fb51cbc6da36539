import FeedimgModel

extension DiskCache {
  /// Makes a written body the image of its key, and removes what no longer fits.
  func store(_ incoming: consuming IncomingBody, _ metadata: ImageMetadata) throws(CacheError) -> StoredImage
  {
    let record = try record(of: incoming, metadata)
    return try store(incoming, record)
  }

  /// Makes a written body that of a record, and removes what no longer fits.
  func store(_ incoming: consuming IncomingBody, _ record: EntryRecord) throws(CacheError) -> StoredImage {
    let log = log()
    defer { withExtendedLifetime(log) {} }
    let row = try place(&incoming, as: record, log)
    let entered = try enterOrRemove(row, log)
    return finish(entered)
  }

  /// What is to be kept of a written body.
  ///
  /// - Throws: ``CacheError`` where it takes more than all of its kind may.
  func record(
    of incoming: borrowing IncomingBody,
    _ metadata: ImageMetadata
  ) throws(CacheError) -> EntryRecord {
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
    return EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: incoming.size,
      checksum: incoming.checksum,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
  }

  /// A record with the line that it is kept as.
  struct Row: Sendable {
    let record: EntryRecord
    let line: [UInt8]
  }

  /// Gives a body the name that its record says, and enters it in its catalog; what is missing then is its row.
  func place(
    _ incoming: inout IncomingBody,
    as record: EntryRecord,
    _ log: IntentLog?
  ) throws(CacheError) -> Row {
    log?.note([record.body], .coming)
    do throws(FileFault) {
      try incoming.place(as: record.body, in: folder)
    } catch {
      throw refusal(error, .body, size: record.size)
    }
    let row = Row(record: record, line: record.line)
    // An entry that is missing in the catalog is lost only when the index is.
    try? Catalog(path: folder.catalog(of: record.body.shard)).append(line: row.line)
    return row
  }

  /// What follows when a row is there.
  func finish(_ entered: EntryRecord) -> StoredImage {
    // The last line of a body is the one that counts.
    if entered.isPinned {
      try? Catalog(path: folder.catalog(of: entered.body.shard)).append(line: entered.line)
    }
    tidy(Tidying(after: entered.body))
    return entered.storedImage(path: folder.path(of: entered.body), usedAt: Double(now))
  }

  /// Writes the row of a body that has its name, or takes the body back.
  ///
  /// Where the index has no room on the disk, once more after others gave way.
  func enterOrRemove(_ row: Row, _ log: IntentLog?) throws(CacheError) -> EntryRecord {
    do throws(CacheError) {
      do throws(CacheError) {
        return try enter(row, log)
      } catch {
        guard error.isForWantOfRoom else { throw error }
        giveWay(atLeast: Self.leastRoom)
        return try enter(row, log)
      }
    } catch {
      folder.remove([row.record.body])
      throw error
    }
  }

  /// What came of an attempt to write a row.
  enum Entering {
    /// With what lost its place; the record is pinned if its forerunner was.
    case done(EntryRecord, CacheIndex.Removal)
    /// More has to give way first.
    case unfinished(CacheIndex.Removal)
    /// It would be pinned, as the one that it replaces is, and pinned images would exceed their limit.
    case pinsFull
  }

  /// Writes a row in as many transactions as it takes.
  private func enter(_ row: Row, _ log: IntentLog?) throws(CacheError) -> EntryRecord {
    let (now, expiry, limits) = (now, expiry, limits)
    // Once, as what is given back shows only when it is unlinked.
    var deficit = folder.room()?.deficit ?? 0
    while true {
      let step = try pool.write { index throws(SQLiteError) -> Entering in
        let step = try index.enter(row, givingBack: deficit, within: limits, now: now)
        switch step {
        case .done(let record, var removal):
          removal.add(try index.removeUnused(since: expiry))
          log?.note(removal.bodies, .going)
          return .done(record, removal)
        case .unfinished(let removal): log?.note(removal.bodies, .going)
        case .pinsFull: break
        }
        return step
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
          "`\(row.record.key)` is not kept: with it, pinned images would take more than \(limits.pinned.rounded); "
            + "the earlier one stays"
        )
      }
    }
  }
}

extension CacheIndex {
  /// Removes what must give way to a record, and inserts its row where that is enough.
  ///
  /// - Parameters:
  ///   - row: What to insert.
  ///   - deficit: What others need of the disk, in bytes.
  ///   - limits: What may be kept.
  ///   - now: When it counts as used, in seconds since 1970.
  /// - Returns: What came of that.
  /// - Throws: ``SQLiteError``; the transaction is to be undone then.
  func enter(
    _ row: DiskCache.Row,
    givingBack deficit: Int,
    within limits: CacheLimits,
    now: Int
  ) throws(SQLiteError) -> DiskCache.Entering {
    let displaced = try entry(with: row.record.identifier)?.record
    let isPinned =
      row.record.isPinned || displaced.map { $0.isPinned && $0.key == row.record.key } ?? false
    let record = row.record.pinned(isPinned)
    if isPinned {
      let others = max(
        0,
        try total(of: .pinned).bytes - (displaced?.isPinned == true ? displaced?.size ?? 0 : 0)
      )
      guard record.size <= limits.pinned.bytes - min(others, limits.pinned.bytes) else { return .pinsFull }
    }
    if let displaced { try displace(displaced) }
    var removal = deficit > 0 ? try giveBack(deficit) : Removal()
    // What others need is given back as far as one step goes; what must go from the budget, all of it.
    removal.isUnfinished = false
    // Who made a lost index again may have taken in this very body.
    if let displaced, displaced.body != record.body { removal.add(Removal([displaced])) }
    if !isPinned {
      removal.add(try makeRoom(for: record.size, of: record.budget, limit: limits[record.budget]))
    }
    guard !removal.isUnfinished else { return .unfinished(removal) }
    try insert(record, line: isPinned ? record.line : row.line, usedAt: now)
    return .done(record, removal)
  }

  /// Removes some of what has not been used since a time.
  func removeUnused(since time: Int) throws(SQLiteError) -> Removal {
    var removal = Removal()
    for budget in Budget.yielding {
      removal.add(try removeUnused(since: time, of: budget, atMost: Eviction.step))
    }
    return removal
  }
}
