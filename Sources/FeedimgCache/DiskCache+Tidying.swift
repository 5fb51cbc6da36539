import FeedimgModel
import Glibc

/// Finds what dead writers left, a little with every few commits, so that no start has to look through everything.
extension DiskCache {
  /// After so many commits, the files of dead writers are looked for.
  private static let sweepInterval = 8
  /// After so many commits, one shard is looked through; all of them in turn.
  private static let visitInterval = 32

  /// Does what is due after a commit; failures are left for the next time.
  func tidy(after commits: Int) {
    if commits % Self.sweepInterval == 0 { sweepIncoming() }
    if commits % Self.visitInterval == 0 {
      try? visit(Shard(number: UInt8(truncatingIfNeeded: commits / Self.visitInterval)))
      correctUses()
    }
    adoptOneShard()
  }

  /// Removes the bodies whose writers have died.
  func sweepIncoming() {
    let names = (try? CacheFolder.names(in: folder.incoming)) ?? []
    for name in names where UInt64(hexadecimal: Array(name.utf8)) != nil {
      let path = "\(folder.incoming)/\(name)"
      guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { continue }
      // Its name is never given again, so that it is still this file which is unlinked.
      if isAbandoned(file) { unlink(path) }
    }
  }

  /// Whether no living process is writing or entering the file.
  private func isAbandoned(_ file: borrowing OpenFile) -> Bool {
    do throws(FileFault) {
      return try file.tryLock()
    } catch {
      // Without locks on this file system, only age tells. No transfer takes longer than a day.
      guard let status = try? file.status() else { return false }
      return now - status.st_mtim.tv_sec > 86_400
    }
  }

  /// Brings rows, bodies and catalog of one shard into accord.
  func visit(_ shard: Shard) throws(CacheError) {
    let names: [String]
    do throws(FileFault) {
      names = try CacheFolder.names(in: folder.folder(of: shard))
    } catch {
      throw CacheError(.folder, error.description)
    }
    let found = try read(of: [shard]) { index throws(SQLiteError) in
      try index.hasRead(shard) ? index.entries(in: shard) : nil
    }
    // Without its rows, every body would seem to be an orphan.
    guard let entries = found ?? nil else { return }
    let bodies = Set(entries.map(\.record.body))
    for body in names.compactMap(BodyName.init(_:)) where body.shard == shard && !bodies.contains(body) {
      removeOrphan(body)
    }
    let present = Set(names)
    for entry in entries where !present.contains(entry.record.body.text) {
      // It may have come after the names were listed.
      if folder.size(of: entry.record.body) == nil { remove(entry.record) }
    }
    try? Catalog(path: folder.catalog(of: shard)).compact(keeping: bodies)
  }

  /// Removes a body without a row, unless its writer is alive and about to enter it.
  private func removeOrphan(_ body: BodyName) {
    let path = folder.path(of: body)
    guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK), isAbandoned(file)
    else { return }
    // It may have got its row before its writer gave the lock back.
    let entered = try? pool.read { index throws(SQLiteError) in
      guard try index.hasRead(body.shard) else { return true }
      return try index.body(of: Int64(bitPattern: body.keyHash)) == body
    }
    if entered == false { unlink(path) }
  }

  private func correctUses() {
    let now = now
    _ = pool.touch { index throws(SQLiteError) in
      try index.correctUses(after: now + TouchLedger.coarseness, now: now)
    }
  }
}
