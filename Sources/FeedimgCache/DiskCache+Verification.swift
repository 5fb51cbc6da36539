package import FeedimgModel

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
    let total = try read(of: Shard.all) { index throws(SQLiteError) -> Int in
      var count = 0
      for budget in Budget.allCases { count += min(max(0, try index.total(of: budget).entries), 1 << 40) }
      return count
    }
    guard let total, total > 0 || folder.exists(folder.bodies) else { return result }
    sweepIncoming()
    var done = 0
    for shard in Shard.all {
      // One shard at a time, so that memory does not grow with what is stored.
      let entries = try read(of: [shard]) { index throws(SQLiteError) in try index.entries(in: shard) } ?? []
      for entry in entries {
        guard progress(done, max(total, done)) else { return result }
        check(entry.record, &result)
        done += 1
      }
      result.restored += try visit(shard)
    }
    // Where nothing can be written, nothing was changed either.
    _ = try? pool.write { index throws(SQLiteError) in try index.recount() }
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
        let log = log()
        defer { withExtendedLifetime(log) {} }
        let isRemoved = try pool.write { index throws(SQLiteError) in
          guard try index.delete(record) else { return false }
          log?.note([record.body], .going)
          return true
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
