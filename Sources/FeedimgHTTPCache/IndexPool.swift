import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc
import Synchronization

/// Lends connections to the index.
///
/// Opens it when it is first needed, and replaces a lost or damaged index.
///
/// Each connection serves one thread at a time, so that readers never wait for each other. Before lending one, the pool
/// checks that the path still leads to its file, because folders are removed and other processes replace damaged files.
final class IndexPool: Sendable {
  let folder: CacheFolder

  /// Guards the idle connections.
  private let idle = Mutex<[CacheIndex]>([])

  /// The most idle connections.
  private static let maximumIdleCount = 4

  /// The longest waits for other processes, in milliseconds.
  private static let busyTimeouts: (reading: Int32, writingIfIdle: Int32, writing: Int32) = (1000, 0, 5000)

  init(folder: CacheFolder) { self.folder = folder }

  /// Runs the body with the index; nil if there is no cache.
  ///
  /// A missing cache is not created.
  func read<Value>(
    _ body: (CacheIndex) throws(SQLiteError) -> Value
  ) throws(CacheError) -> Value? {
    try perform(creating: false, busyTimeout: Self.busyTimeouts.reading, body)
  }

  /// Runs the body in a transaction if that is possible at once; otherwise nil.
  func writeIfIdle<Value>(_ body: (CacheIndex) throws(SQLiteError) -> Value) -> Value? {
    try? perform(creating: false, busyTimeout: Self.busyTimeouts.writingIfIdle) { index throws(SQLiteError) in
      try index.transaction { () throws(SQLiteError) in try body(index) }
    }
  }

  /// Runs the body in a transaction, perhaps more than once.
  ///
  /// Creates a missing cache.
  func write<Value>(
    _ body: (CacheIndex) throws(SQLiteError) -> Value
  ) throws(CacheError) -> Value {
    let value = try perform(creating: true, busyTimeout: Self.busyTimeouts.writing) {
      index throws(SQLiteError) in
      try index.transaction { () throws(SQLiteError) in try body(index) }
    }
    guard let value else { throw CacheError("cannot make `\(folder.index)`") }
    return value
  }

  /// Closes idle connections.
  ///
  /// Later calls open new ones.
  func close() {
    _ = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
  }

  private func perform<Value>(
    creating: Bool,
    busyTimeout: Int32,
    _ body: (CacheIndex) throws(SQLiteError) -> Value
  ) throws(CacheError) -> Value? {
    var fault = IndexError.file(FileError("open", folder.index, reason: 0))
    // The second attempt uses a new index after a damaged one.
    for _ in 0..<2 {
      do throws(IndexError) {
        guard let index = try borrow(creating: creating) else { return nil }
        index.connection.busyTimeout = busyTimeout
        do throws(SQLiteError) {
          let value = try body(index)
          giveBack(index)
          return value
        } catch {
          if error.isBusy { giveBack(index) }
          // It was opened read-only, as the disk was full.
          if index.isForOnce, error.isUnwritable { throw .database(.full) }
          // A schema of a later version is no damage.
          if error.isDamage, let newer = index.newerVersion { throw .database(newer) }
          guard error.isDamage, !index.isReadOnly else { throw .database(error) }
          fault = .database(error)
          try renameDamaged(index.identity)
        }
      } catch {
        throw error.cacheError(index: folder.index)
      }
    }
    throw fault.cacheError(index: folder.index)
  }

  private func borrow(creating: Bool) throws(IndexError) -> CacheIndex? {
    let identity = try identity()
    // Connections to another file are closed outside the lock.
    let (stale, index) = idle.withLock { idle in
      let stale = idle.filter { $0.identity != identity }
      idle.removeAll { $0.identity != identity }
      return (stale, idle.popLast())
    }
    _ = consume stale
    if let index { return index }
    return creating || identity != nil ? try open() : nil
  }

  private func giveBack(_ index: CacheIndex) {
    guard !index.isForOnce else { return }
    idle.withLock { if $0.count < Self.maximumIdleCount { $0.append(index) } }
  }

  func identity() throws(IndexError) -> FileIdentity? {
    try IndexError.ofFiles(folder.indexIdentity)
  }
}

extension IndexPool {
  /// Opens the index.
  ///
  /// Creates a missing one and replaces a damaged one.
  func open() throws(IndexError) -> CacheIndex {
    switch try openExisting() {
    case .opened(let index): return index
    case .missing: break
    case .damaged(let identity): try renameDamaged(identity)
    }
    return try make()
  }

  private enum Finding {
    case opened(CacheIndex)
    case missing
    case damaged(FileIdentity)
  }

  private func openExisting() throws(IndexError) -> Finding {
    let lock: FileLock
    do throws(FileError) {
      lock = try FileLock(folder, .shared)
    } catch {
      // A process that cannot write the lock cannot replace the index either.
      guard [EROFS, EACCES, EPERM, ENOENT].contains(error.reason) else { throw .file(error) }
      return try find(isWritable: false)
    }
    // The lock is held until the first read, when SQLite has opened the files beside the index.
    return try withExtendedLifetime(lock) { () throws(IndexError) in try find(isWritable: true) }
  }

  private func find(isWritable: Bool) throws(IndexError) -> Finding {
    guard let identity = try identity() else { return .missing }
    if isWritable, folder.isIndexTorn { return .damaged(identity) }
    do throws(IndexError) {
      guard let index = try connect(isWritable: isWritable, identity) else { return .missing }
      // A connection that was opened read-only on a full disk misses later writes.
      index.isForOnce = index.isReadOnly && isWritable
      return .opened(index)
    } catch {
      guard error.isDamage, isWritable else { throw error }
      return .damaged(identity)
    }
  }

  /// A connection to the existing index; nil if it was never completed.
  private func connect(isWritable: Bool, _ identity: FileIdentity) throws(IndexError) -> CacheIndex? {
    do throws(IndexError) {
      return try check(.write, identity)
    } catch {
      // If SQLite cannot write beside the index, it reads the index only if we declare it unchanging.
      // Should it change, checksums reveal that.
      guard case .database(let fault) = error else { throw error }
      guard fault.isUnwritable && !isWritable || fault.isDiskFull else { throw error }
      return try check(.immutable, identity)
    }
  }

  private func check(
    _ access: SQLiteConnection.Access,
    _ identity: FileIdentity
  ) throws(IndexError) -> CacheIndex? {
    let (index, kind) = try IndexError.ofDatabase { () throws(SQLiteError) in
      let index = try CacheIndex(folder, access, identity)
      return (index, try index.kind())
    }
    switch kind {
    case .ours: return index
    case .empty: return nil
    case .foreign: throw .foreign
    }
  }

  /// Creates the index, unless another process did.
  private func make() throws(IndexError) -> CacheIndex {
    let lock = try IndexError.ofFiles { () throws(FileError) in
      try folder.create()
      return try FileLock(folder, .exclusive)
    }
    defer { withExtendedLifetime(lock) {} }
    if let identity = try identity() {
      if let index = try check(.write, identity) { return index }
    } else {
      // SQLite would take old files beside a new index for parts of it.
      for ending in CacheFolder.indexCompanions { unlink(folder.index + ending) }
    }
    let hasBodies = try IndexError.ofFiles { () throws(FileError) in
      try folder.makeIndexFile()
      return try !CacheFolder.names(in: folder.bodies).isEmpty
    }
    guard let identity = try identity() else {
      throw .file(FileError("open", folder.index, reason: ENOENT))
    }
    return try IndexError.ofDatabase { () throws(SQLiteError) in
      let index = try CacheIndex(folder, .write, identity)
      try index.create(hasBodies: hasBodies)
      return index
    }
  }

  /// Renames a damaged index, unless another process did.
  ///
  /// It replaces an earlier one and remains for examination.
  func renameDamaged(_ damaged: FileIdentity) throws(IndexError) {
    let lock = try IndexError.ofFiles { () throws(FileError) in try FileLock(folder, .exclusive) }
    defer { withExtendedLifetime(lock) {} }
    guard try identity() == damaged else { return }
    guard rename(folder.index, folder.damagedIndex) == 0 else {
      throw .file(FileError("put aside", folder.index))
    }
    for ending in CacheFolder.indexCompanions { unlink(folder.index + ending) }
  }

  /// Removes the index in any state, and damaged ones that were renamed.
  ///
  /// A process that has it open continues with the removed file until its next call. The removal is counted first, so
  /// that a writer that misses the index sees the count. A database of another program stays.
  func removeIndex(_ countRemoval: () throws(FileError) -> Void) throws(CacheError) {
    do throws(IndexError) {
      try remove(countRemoval)
    } catch {
      throw error.cacheError(index: folder.index)
    }
  }

  private func remove(_ countRemoval: () throws(FileError) -> Void) throws(IndexError) {
    do throws(IndexError) { _ = try openExisting() } catch .foreign { throw .foreign } catch {}
    let lock = try IndexError.ofFiles { () throws(FileError) in try FileLock(folder, .exclusive) }
    defer { withExtendedLifetime(lock) {} }
    try? countRemoval()
    for path in [folder.index, folder.damagedIndex] + CacheFolder.indexCompanions.map({ folder.index + $0 }) {
      guard unlink(path) == 0 || errno == ENOENT else { throw .file(FileError("remove", path)) }
    }
  }
}

/// Why the index cannot be used.
enum IndexError: Error, Hashable {
  case database(SQLiteError)
  case file(FileError)
  /// The file is a database of another program.
  case foreign

  static func ofDatabase<Value>(
    _ body: () throws(SQLiteError) -> Value
  ) throws(IndexError) -> Value {
    do throws(SQLiteError) { return try body() } catch { throw .database(error) }
  }

  static func ofFiles<Value: ~Copyable>(
    _ body: () throws(FileError) -> Value
  ) throws(IndexError) -> Value {
    do throws(FileError) { return try body() } catch { throw .file(error) }
  }

  /// Whether the file is damaged, so that only a new index helps.
  var isDamage: Bool { if case .database(let error) = self { error.isDamage } else { false } }

  func cacheError(index path: String) -> CacheError {
    switch self {
    case .database(let error):
      CacheError(
        "cannot use the index `\(path)`: \(error)",
        isDiskFull: error.isDiskFull
      )
    case .file(let fault):
      CacheError(fault)
    case .foreign:
      CacheError("cannot use the index `\(path)`: it belongs to another program")
    }
  }
}

extension FileLock {
  /// Locks the folder: `shared` to open the index, `exclusive` to create or replace it.
  ///
  /// SQLite finds the files beside the index by their names. While the index is replaced, the names lead to the old
  /// files, so that no process may open it.
  ///
  /// - Throws: ``FileError``, with `EWOULDBLOCK` after two seconds.
  init(_ folder: CacheFolder, _ share: Share) throws(FileError) {
    try self.init(folder.lock, share, within: .seconds(2))
  }
}
