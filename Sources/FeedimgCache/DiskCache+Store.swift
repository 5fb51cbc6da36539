import FeedimgModel

extension DiskCache {
  /// Makes a written body the image of its key, and removes what no longer fits.
  func store(_ incoming: consuming IncomingBody, _ metadata: ImageMetadata) throws(CacheError) -> StoredImage
  {
    let limit = limits[metadata.role]
    guard incoming.size <= limit.bytes else {
      let size = ByteCount(incoming.size).rounded
      throw CacheError(
        .body,
        "`\(metadata.key)` is not kept: it takes \(size), more than the \(limit.rounded) for all \(metadata.role)s"
      )
    }
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: incoming.size,
      checksum: incoming.checksum,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    let log = log()
    log?.note([record.body], .coming)
    do throws(FileFault) {
      try incoming.place(as: record.body, in: folder)
    } catch {
      throw CacheError(.body, error.description)
    }
    let line = record.line
    // An entry that is missing in the catalog is lost only when the index is.
    try? Catalog(path: folder.catalog(of: record.body.shard)).append(line: line)
    do throws(CacheError) {
      try enter(record, line: line, limit: limit, log)
    } catch {
      folder.remove([record.body])
      throw error
    }
    tidy(Tidying(after: record.body))
    return record.storedImage(path: folder.path(of: record.body), usedAt: Double(now))
  }

  /// Writes the row of a record, after removing those that must give way.
  private func enter(
    _ record: EntryRecord,
    line: [UInt8],
    limit: ByteCount,
    _ log: IntentLog?
  ) throws(CacheError) {
    let now = now
    let expiry = expiry
    // Once, as what is given back shows only when it is unlinked.
    var deficit = folder.room()?.deficit ?? 0
    while true {
      let removal = try pool.write { index throws(SQLiteError) -> CacheIndex.Removal in
        let displaced = try index.displace(record.identifier)
        var removal = deficit > 0 ? try index.giveBack(deficit) : CacheIndex.Removal()
        let room = try index.makeRoom(for: record.size, of: record.role, limit: limit)
        removal.bodies += room.bodies
        removal.isUnfinished = room.isUnfinished
        if let displaced { removal.bodies.append(displaced) }
        guard !removal.isUnfinished else {
          log?.note(removal.bodies, .going)
          return removal
        }
        try index.insert(record, line: line, usedAt: now)
        for role in ImageVariant.Role.allCases {
          removal.bodies += try index.removeUnused(since: expiry, of: role, atMost: Eviction.step)
        }
        log?.note(removal.bodies, .going)
        return removal
      }
      folder.remove(removal.bodies)
      guard removal.isUnfinished else { return }
      deficit = 0
    }
  }
}
