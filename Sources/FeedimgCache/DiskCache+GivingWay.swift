import FeedimgModel
import Glibc

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
    if [ENOSPC, EDQUOT].contains(fault.reason) { giveWay(atLeast: max(size, Self.leastRoom)) }
    return CacheError(code, fault.description)
  }

  /// Removes what was used least, as much as others need of the disk; bodies first, as without room no row can go.
  ///
  /// A row without its body counts as absent. Should it be left by a kill, it goes when it is read or its shard visited.
  ///
  /// - Parameter bytes: No less than that, for quotas, of which the file system does not tell.
  func giveWay(atLeast bytes: Int = 0) {
    let wanted = max(folder.room()?.deficit ?? 0, bytes)
    guard wanted > 0 else { return }
    let found = try? pool.read { index throws(SQLiteError) in try index.leastUsed(wanted) }
    guard let records = found ?? nil, !records.isEmpty else { return }
    folder.remove(records.map(\.body))
    _ = pool.touch { index throws(SQLiteError) in
      for record in records { _ = try index.delete(record) }
    }
  }

  /// A full disk gives back as much in one go, so that the next image finds room.
  private static let leastRoom = 64 << 10
}
