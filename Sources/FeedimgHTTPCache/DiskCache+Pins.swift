package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem

/// Pins: pinned images neither expire nor are evicted.
///
/// They have a budget of their own. A pin belongs to the key: an image that replaces a pinned one is pinned, too, even
/// after the pinned one was found damaged. An image that is too large for the budget is then stored without the pin.
extension DiskCache {
  /// Verifies and pins the image of a key.
  ///
  /// - Returns: False if the image is missing or damaged.
  /// - Throws: ``CacheError`` if pinned images would exceed their limit, or the index cannot be written.
  package func pin(_ key: String) throws(CacheError) -> Bool {
    try move(key, toPinned: true) { entry throws(CacheError) in
      switch StoredBody.read(entry.record, path: folder.path(of: entry.record.body)) {
      case .whole: return true
      case .unreadable(let fault): throw CacheError(fault.description)
      case .wrong:
        remove(entry.record)
        return false
      }
    }
  }

  /// Unpins the image of a key and counts a use.
  ///
  /// Others are evicted if it needs space.
  ///
  /// - Returns: False if there is no image.
  /// - Throws: ``CacheError`` if the image exceeds its budget, or the index cannot be written.
  package func unpin(_ key: String) throws(CacheError) -> Bool {
    if try pool.read({ index throws(SQLiteError) in try index.isPinAwaited(for: key) }) == true {
      try beginWritingOrRefuse()
      try pool.write { index throws(SQLiteError) in try index.removeAwaitedPin(for: key) }
    }
    return try move(key, toPinned: false) { _ in true }
  }

  private func move(
    _ key: String,
    toPinned isPinned: Bool,
    if isFit: (CacheIndex.Entry) throws(CacheError) -> Bool
  ) throws(CacheError) -> Bool {
    // Another process may replace the image meanwhile: read again then.
    for _ in 0..<3 {
      let found = try pool.read { index throws(SQLiteError) in try index.entry(of: key) }
      guard let entry = found ?? nil, !isExpired(entry) else { return false }
      guard entry.record.isPinned != isPinned else { return true }
      guard try isFit(entry) else { return false }
      var new = entry.record
      new.isPinned = isPinned
      if try move(entry.record, to: new) { return true }
    }
    throw CacheError("`\(ImageURL.withoutCredentials(key))` is being replaced by another process")
  }

  /// Moves an entry between budgets; false if the key has another entry by now.
  private func move(_ old: EntryRecord, to new: EntryRecord) throws(CacheError) -> Bool {
    let (limit, now, key) = (limits[new.budget], now, ImageURL.withoutCredentials(new.key))
    guard new.isPinned || new.size <= limit.bytes else {
      throw CacheError(
        "`\(key)` stays pinned: it takes more than the \(limit.rounded) for all \(new.role)s"
      )
    }
    try beginWritingOrRefuse()
    let step = try pool.write { index throws(SQLiteError) -> (isMoved: Bool, removal: CacheIndex.Removal)? in
      guard new.isPinned else {
        let removal = try index.makeRoom(for: new.size, of: new.budget, limit: limit)
        return (try index.move(old, to: new.budget, usedAt: now), removal)
      }
      guard new.size <= limit.bytes - (try index.total(of: .pinned).bytes) else { return nil }
      return (try index.move(old, to: new.budget, usedAt: now), CacheIndex.Removal())
    }
    guard let step else {
      throw CacheError(
        "`\(key)` is not pinned: with its \(ByteCount(new.size).rounded) pinned images would take more than "
          + "\(limit.rounded); \(try info().pinned.size.rounded) are pinned"
      )
    }
    folder.remove(step.removal.bodies)
    return step.isMoved
  }
}
