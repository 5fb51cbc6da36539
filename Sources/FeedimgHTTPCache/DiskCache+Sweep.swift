import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc

/// The sweep: removes what killed processes left.
///
/// That is bodies without rows, rows without bodies, and files in `incoming`.
extension DiskCache {
  /// Examines `incoming`, which is quick.
  ///
  /// Sweeps all shards if a process was killed.
  ///
  /// A failed sweep is repeated next time.
  func sweepIncoming() {
    recoverPartialDownloads()
    sweepPartialDownloads()
    var ended: [String] = []
    for name in (try? CacheFolder.names(in: folder.incoming)) ?? [] {
      let path = "\(folder.incoming)/\(name)"
      let isSession = name.hasSuffix(WriterSession.ending)
      let number = isSession ? name.dropLast(WriterSession.ending.count) : name[...]
      guard UInt64(hexadecimal: Array(number.utf8)) != nil, isAbandoned(path) else { continue }
      if isSession { ended.append(path) } else if !hasRecoveryRecord(name) { unlink(path) }
    }
    let unswept = (try? pool.read { index throws(SQLiteError) in try index.count(of: .unswept) }) ?? nil
    guard !ended.isEmpty || unswept ?? 0 > 0, sweep() else { return }
    // Names are never used twice, so that these are the same files.
    for path in ended { unlink(path) }
  }

  /// Removes rows without bodies and bodies without rows; false if that is not possible now.
  ///
  /// A writer places its body inside the transaction that inserts its row. So a body without a row, seen inside this
  /// transaction, belongs to no living writer.
  func sweep() -> Bool {
    let folder = folder
    let swept = pool.writeIfIdle { index throws(SQLiteError) -> (orphans: [BodyName], isComplete: Bool) in
      var (orphans, isComplete): ([BodyName], Bool) = ([], true)
      let replaced = try index.replacedBodies()
      for shard in Shard.all {
        guard let names = try? CacheFolder.names(in: folder.folder(of: shard)) else {
          isComplete = false
          continue
        }
        let bodies = Set(names.compactMap(BodyName.init(_:)))
        orphans += bodies.subtracting(try index.retain(bodies, in: shard)).subtracting(replaced)
      }
      try index.recount()
      if isComplete { try index.add(-index.count(of: .unswept), to: .unswept) }
      return (orphans, isComplete)
    }
    guard let swept else {
      let isEmpty = (try? CacheFolder.names(in: folder.bodies).isEmpty) ?? false
      return isEmpty && !folder.exists(folder.index)
    }
    folder.remove(swept.orphans)
    return swept.isComplete
  }

  func isAbandoned(_ path: String) -> Bool {
    guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return false }
    return isAbandoned(file)
  }

  /// Whether no living process has locked the file.
  func isAbandoned(_ file: borrowing OpenFile) -> Bool {
    do throws(FileError) {
      return try file.tryLock()
    } catch {
      // On file systems without locks, only the age decides. No transfer takes a day.
      guard let status = try? file.status() else { return false }
      return now - status.st_mtim.tv_sec > 86_400
    }
  }
}
