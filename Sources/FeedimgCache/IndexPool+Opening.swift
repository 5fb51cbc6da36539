import FeedimgModel
import Glibc

extension IndexPool {
  /// Opens the index: made if there is none, made anew if it is damaged.
  func open() throws(IndexFault) -> Lent {
    switch try openExisting() {
    case .opened(let lent): return lent
    case .missing: break
    case .damaged(let identity): try putAside(identity)
    }
    return try make()
  }

  private enum Finding {
    case opened(Lent)
    case missing
    case damaged(CacheFolder.Identity)
  }

  private func openExisting() throws(IndexFault) -> Finding {
    let lock: FolderLock
    do throws(FileFault) {
      lock = try FolderLock(folder, .shared)
    } catch {
      // Where nothing can be written, nobody replaces the index either.
      guard [EROFS, EACCES, EPERM, ENOENT].contains(error.reason) else { throw .file(error) }
      return try find(isWritable: false)
    }
    // Held until the index has been read once, by when SQLite has opened the files beside it.
    return try lock.hold { () throws(IndexFault) in try find(isWritable: true) }
  }

  private func find(isWritable: Bool) throws(IndexFault) -> Finding {
    guard let identity = try identity() else { return .missing }
    if isWritable, folder.isIndexTorn { return .damaged(identity) }
    do throws(IndexFault) {
      guard let index = try connect(isWritable: isWritable) else { return .missing }
      // One that was opened for want of room does not see what others write once there is room again.
      return .opened(Lent(index: index, identity: identity, isForOnce: index.isReadOnly && isWritable))
    } catch {
      guard error.isDamage, isWritable else { throw error }
      return .damaged(identity)
    }
  }

  /// A connection to the index that is there; nil where it was never finished.
  private func connect(isWritable: Bool) throws(IndexFault) -> CacheIndex? {
    do throws(IndexFault) {
      return try check(.write)
    } catch {
      // Where it cannot write files beside the index, SQLite reads it only on our word that it does not change.
      // Should it change all the same, checksums tell.
      guard case .database(let fault) = error else { throw error }
      guard fault.isUnwritable && !isWritable || fault.isForWantOfRoom else { throw error }
      return try check(.immutable)
    }
  }

  private func check(_ access: SQLiteConnection.Access) throws(IndexFault) -> CacheIndex? {
    let (index, standing) = try IndexFault.ofDatabase { () throws(SQLiteError) in
      let index = CacheIndex(try SQLiteConnection(path: folder.index, access: access))
      return (index, try index.standing())
    }
    switch standing {
    case .ours: return index
    case .older:
      // One that cannot be written is read as it is.
      if !index.isReadOnly { try IndexFault.ofDatabase(index.upgrade) }
      return index
    case .empty: return nil
    case .foreign: throw .foreign
    case .newer(let version): throw .database(.newer(version))
    }
  }

  /// Makes the index, unless another process has made it meanwhile.
  private func make() throws(IndexFault) -> Lent {
    let lock = try IndexFault.ofFiles { () throws(FileFault) in
      try folder.create()
      return try FolderLock(folder, .alone)
    }
    return try lock.hold { () throws(IndexFault) in
      if try identity() == nil {
        // What lies beside an index that has gone would be taken for part of the new one.
        for ending in CacheFolder.indexCompanions { unlink(folder.index + ending) }
      }
      let index: CacheIndex
      if let made = try identity() == nil ? nil : check(.write) {
        index = made
      } else {
        let unread = try IndexFault.ofFiles { () throws(FileFault) in
          try folder.makeIndexFile()
          return try folder.shards()
        }
        index = try IndexFault.ofDatabase { () throws(SQLiteError) in
          let index = CacheIndex(try SQLiteConnection(path: folder.index, access: .write))
          try index.create(unread: unread)
          return index
        }
      }
      guard let identity = try identity() else {
        throw .file(FileFault("open", folder.index, reason: ENOENT))
      }
      return Lent(index: index, identity: identity, isForOnce: false)
    }
  }

  /// Takes a damaged index out of the way, unless another process has done so already.
  ///
  /// It is kept under another name, in place of an earlier one, for whoever wants to look into it.
  func putAside(_ damaged: CacheFolder.Identity) throws(IndexFault) {
    let lock = try IndexFault.ofFiles { () throws(FileFault) in try FolderLock(folder, .alone) }
    try lock.hold { () throws(IndexFault) in
      guard try identity() == damaged else { return }
      guard rename(folder.index, folder.damagedIndex) == 0 else {
        throw .file(FileFault("put aside", folder.index))
      }
      for ending in CacheFolder.indexCompanions { unlink(folder.index + ending) }
    }
  }

  /// Removes the index whatever state it is in, and what was put aside of earlier ones.
  ///
  /// Whoever has it open works on with a file without a name, and sees that before the next piece of work.
  ///
  /// - Throws: ``CacheError`` when it cannot be removed, or belongs to another program.
  func removeIndex() throws(CacheError) {
    do throws(IndexFault) {
      try remove()
    } catch {
      throw error.cacheError(index: folder.index)
    }
  }

  private func remove() throws(IndexFault) {
    // What others have put into its place is theirs.
    do throws(IndexFault) { _ = try openExisting() } catch .foreign { throw .foreign } catch {}
    let lock = try IndexFault.ofFiles { () throws(FileFault) in try FolderLock(folder, .alone) }
    try lock.hold { () throws(IndexFault) in
      for path in [folder.index, folder.damagedIndex] + CacheFolder.indexCompanions.map({ folder.index + $0 })
      {
        guard unlink(path) == 0 || errno == ENOENT else { throw .file(FileFault("remove", path)) }
      }
    }
  }
}
