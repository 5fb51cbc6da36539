import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc
import Synchronization

/// Lends connections to the index, which is opened when first needed, and made anew when it is lost or damaged.
///
/// Each connection serves one thread at a time, so that readers never wait for each other. Before one is lent, it is
/// made sure that the path still leads to the file which it has open: folders vanish, and other processes replace
/// what is damaged.
final class IndexPool: Sendable {
  let folder: CacheFolder

  /// A connection, with the file that it has open.
  ///
  /// Sendable although the connection is not: while it is idle the pool alone refers to it, and while it is lent the
  /// borrower's thread alone does.
  struct Lent: @unchecked Sendable {
    let index: CacheIndex
    let identity: CacheFolder.Identity
    /// Whether it is closed when it is given back.
    let isForOnce: Bool
  }

  /// Guards which connections nobody uses now, and what file they have open.
  private let shelf = Mutex(Shelf())

  private struct Shelf {
    var idle: [Lent] = []
    var identity: CacheFolder.Identity?

    /// Forgets the connections to another file than this, which the caller closes by letting go of them.
    mutating func turn(to identity: CacheFolder.Identity?) -> [Lent] {
      guard identity != self.identity else { return [] }
      self.identity = identity
      defer { idle = [] }
      return idle
    }
  }

  /// So many connections are kept open while nobody uses them.
  private static let greatestIdleCount = 4

  /// How long others are waited for, in milliseconds: one who looks waits less than one who has something to keep.
  private static let patience: (reading: Int32, touching: Int32, writing: Int32) = (1000, 0, 5000)

  init(folder: CacheFolder) { self.folder = folder }

  /// Runs the body with the index, if there is a cache at all; nil where there is none, which then is not made.
  func read<Value>(
    _ body: (CacheIndex) throws(SQLiteError) -> Value
  ) throws(CacheError) -> Value? {
    try perform(creating: false, patience: Self.patience.reading, body)
  }

  /// Runs the body within a transaction if that is possible at once; nil where it is not.
  func touch<Value>(_ body: (CacheIndex) throws(SQLiteError) -> Value) -> Value? {
    try? perform(creating: false, patience: Self.patience.touching) { index throws(SQLiteError) in
      try index.transaction { () throws(SQLiteError) in try body(index) }
    }
  }

  /// Runs the body within a transaction, more than once if need be; the cache is made where there is none.
  func write<Value>(
    _ body: (CacheIndex) throws(SQLiteError) -> Value
  ) throws(CacheError) -> Value {
    let value = try perform(creating: true, patience: Self.patience.writing) { index throws(SQLiteError) in
      try index.transaction { () throws(SQLiteError) in try body(index) }
    }
    guard let value else { throw CacheError(.index, "cannot make `\(folder.index)`") }
    return value
  }

  /// Closes what nobody uses; what is needed later is opened again.
  func close() {
    _ = shelf.withLock { $0.turn(to: nil) }
  }

  private func perform<Value>(
    creating: Bool,
    patience: Int32,
    _ body: (CacheIndex) throws(SQLiteError) -> Value
  ) throws(CacheError) -> Value? {
    var trouble = IndexFault.file(FileFault("open", folder.index, reason: 0))
    // The second time is for an index that was damaged; damage to the new one is not ours to repair.
    for _ in 0..<2 {
      do throws(IndexFault) {
        guard let lent = try borrow(creating: creating) else { return nil }
        lent.index.connection.patience = patience
        do throws(SQLiteError) {
          let value = try body(lent.index)
          giveBack(lent)
          return value
        } catch {
          if error.isBusy { giveBack(lent) }
          // It was opened for reading alone since there was no room to write.
          if lent.isForOnce, error.isUnwritable { throw .database(.full) }
          // What a later version has changed under us is no damage.
          if error.isDamage { try IndexFault.ofStanding(lent.index) }
          guard error.isDamage, !lent.index.isReadOnly else { throw .database(error) }
          trouble = .database(error)
          try putAside(lent.identity)
        }
      } catch {
        throw error.cacheError(index: folder.index)
      }
    }
    throw trouble.cacheError(index: folder.index)
  }

  /// A connection to the index that is there now.
  private func borrow(creating: Bool) throws(IndexFault) -> Lent? {
    let identity = try identity()
    let (stale, idle) = shelf.withLock { shelf in (shelf.turn(to: identity), shelf.idle.popLast()) }
    _ = consume stale
    if let idle { return idle }
    guard creating || identity != nil else { return nil }
    let lent = try open()
    shelf.withLock { $0.identity = $0.identity ?? lent.identity }
    return lent
  }

  private func giveBack(_ lent: Lent) {
    guard !lent.isForOnce else { return }
    shelf.withLock { shelf in
      guard shelf.identity == lent.identity, shelf.idle.count < Self.greatestIdleCount else { return }
      shelf.idle.append(lent)
    }
  }

  /// The index file that is there now.
  func identity() throws(IndexFault) -> CacheFolder.Identity? {
    try IndexFault.ofFiles(folder.indexIdentity)
  }
}

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
    let lock: FileLock
    do throws(FileFault) {
      lock = try FileLock(folder, .shared)
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
      guard fault.isUnwritable && !isWritable || fault.isDiskFull else { throw error }
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
      // One that cannot be written cannot be read either, and stays as it is.
      guard !index.isReadOnly else { throw .database(.outdated) }
      try IndexFault.ofDatabase(index.upgrade)
      return index
    case .empty: return nil
    case .foreign: throw .foreign
    case .newer(let version): throw .database(.newer(version, known: IndexSchema.version))
    }
  }

  /// Makes the index, unless another process has made it meanwhile.
  private func make() throws(IndexFault) -> Lent {
    let lock = try IndexFault.ofFiles { () throws(FileFault) in
      try folder.create()
      return try FileLock(folder, .exclusive)
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
        let hasBodies = try IndexFault.ofFiles { () throws(FileFault) in
          try folder.makeIndexFile()
          return try !folder.shards().isEmpty
        }
        index = try IndexFault.ofDatabase { () throws(SQLiteError) in
          let index = CacheIndex(try SQLiteConnection(path: folder.index, access: .write))
          try index.create(hasBodies: hasBodies)
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
    let lock = try IndexFault.ofFiles { () throws(FileFault) in try FileLock(folder, .exclusive) }
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
    let lock = try IndexFault.ofFiles { () throws(FileFault) in try FileLock(folder, .exclusive) }
    try lock.hold { () throws(IndexFault) in
      // Before the index goes: a writer that finds it gone also finds the count. A full disk must not prevent a clear.
      try? folder.countClear()
      for path in [folder.index, folder.damagedIndex] + CacheFolder.indexCompanions.map({ folder.index + $0 })
      {
        guard unlink(path) == 0 || errno == ENOENT else { throw .file(FileFault("remove", path)) }
      }
    }
  }
}

/// Why there is no index to work with.
enum IndexFault: Error, Hashable {
  case database(SQLiteError)
  case file(FileFault)
  /// The file is a database of another program.
  case foreign

  /// Runs the body, whose failures are those of the database.
  static func ofDatabase<Value>(
    _ body: () throws(SQLiteError) -> Value
  ) throws(IndexFault) -> Value {
    do throws(SQLiteError) { return try body() } catch { throw .database(error) }
  }

  /// Throws where a later version has made the schema of the index.
  static func ofStanding(_ index: CacheIndex) throws(IndexFault) {
    if case .newer(let version)? = try? index.standing() {
      throw .database(.newer(version, known: IndexSchema.version))
    }
  }

  /// Runs the body, whose failures are those of files.
  static func ofFiles<Value: ~Copyable>(
    _ body: () throws(FileFault) -> Value
  ) throws(IndexFault) -> Value {
    do throws(FileFault) { return try body() } catch { throw .file(error) }
  }

  /// Whether the file holds something else than we wrote, so that only a new one helps.
  var isDamage: Bool { if case .database(let error) = self { error.isDamage } else { false } }

  func cacheError(index path: String) -> CacheError {
    switch self {
    case .database(let error):
      CacheError(
        .index,
        "cannot use the index `\(path)`: \(error)",
        isDiskFull: error.isDiskFull
      )
    case .file(let fault):
      CacheError(.folder, fault.description, isDiskFull: fault.isDiskFull)
    case .foreign:
      CacheError(.index, "cannot use the index `\(path)`: it belongs to another program")
    }
  }
}

extension FileLock {
  /// The lock of a cache: `shared` to open the index, `exclusive` to make or replace it.
  ///
  /// SQLite finds the files beside the index by their names. While an index is being replaced, these names lead to the
  /// old one's, so that no process may open it then.
  ///
  /// - Throws: ``FileFault``, with `EWOULDBLOCK` after two seconds: a process that holds it for longer is stopped.
  init(_ folder: CacheFolder, _ share: Share) throws(FileFault) {
    try self.init(folder.lock, share, within: .seconds(2))
  }

  /// Runs the body with the lock held.
  borrowing func hold<Value>(
    _ body: () throws(IndexFault) -> Value
  ) throws(IndexFault) -> Value {
    try body()
  }
}
