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
    do throws(FileFault) {
      try incoming.place(as: record.body, in: folder)
    } catch {
      throw CacheError(.body, error.description)
    }
    // An entry that is missing in the catalog is lost only when the index is.
    try? Catalog(path: folder.catalog(of: record.body.shard)).append(record)
    do throws(CacheError) {
      tidy(after: try enter(record, limit: limit))
    } catch {
      folder.remove([record.body])
      throw error
    }
    return record.storedImage(path: folder.path(of: record.body), usedAt: Double(now))
  }

  /// What one transaction of entering did.
  private struct Step {
    /// Those that have lost their rows.
    var bodies: [BodyName]
    /// Nil when more must be removed first.
    var commits: Int?
  }

  /// Writes the row of a record, after removing those that must give way; how many commits there have been.
  private func enter(_ record: EntryRecord, limit: ByteCount) throws(CacheError) -> Int {
    let now = now
    let expiry = expiry
    while true {
      let step = try pool.write { index throws(SQLiteError) -> Step in
        let displaced = try index.displace(record.identifier)
        let removal = try index.makeRoom(for: record.size, of: record.role, limit: limit)
        var step = Step(bodies: removal.bodies + [displaced].compactMap { $0 })
        guard !removal.isUnfinished else { return step }
        try index.insert(record, usedAt: now)
        for role in ImageVariant.Role.allCases {
          step.bodies += try index.removeUnused(since: expiry, of: role, atMost: Eviction.step)
        }
        step.commits = try index.add(1, to: .commits)
        return step
      }
      folder.remove(step.bodies)
      if let commits = step.commits { return commits }
    }
  }
}
