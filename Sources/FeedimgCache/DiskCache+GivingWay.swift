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
    if fault.isForWantOfRoom { giveWay(atLeast: max(size, Self.leastRoom)) }
    return CacheError(code, fault.description, isForWantOfRoom: fault.isForWantOfRoom)
  }

  /// Removes what was used least, as much as others need of the disk; bodies first, as without room no row can go.
  ///
  /// A row without its body counts as absent. Should it be left by a kill, it goes when it is read or its shard visited.
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
      for record in records { _ = try index.delete(record) }
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
