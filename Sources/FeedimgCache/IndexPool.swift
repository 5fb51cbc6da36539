import FeedimgModel
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
  func read<Answer>(
    _ body: (CacheIndex) throws(SQLiteError) -> Answer
  ) throws(CacheError) -> Answer? {
    try perform(creating: false, patience: Self.patience.reading, body)
  }

  /// Runs the body within a transaction if that is possible at once; nil where it is not.
  func touch<Answer>(_ body: (CacheIndex) throws(SQLiteError) -> Answer) -> Answer? {
    try? perform(creating: false, patience: Self.patience.touching) { index throws(SQLiteError) in
      try index.transaction { () throws(SQLiteError) in try body(index) }
    }
  }

  /// Runs the body within a transaction, more than once if need be; the cache is made where there is none.
  func write<Answer>(
    _ body: (CacheIndex) throws(SQLiteError) -> Answer
  ) throws(CacheError) -> Answer {
    let answer = try perform(creating: true, patience: Self.patience.writing) { index throws(SQLiteError) in
      try index.transaction { () throws(SQLiteError) in try body(index) }
    }
    guard let answer else { throw CacheError(.index, "cannot make `\(folder.index)`") }
    return answer
  }

  /// Closes what nobody uses; what is needed later is opened again.
  func close() {
    _ = shelf.withLock { $0.turn(to: nil) }
  }

  private func perform<Answer>(
    creating: Bool,
    patience: Int32,
    _ body: (CacheIndex) throws(SQLiteError) -> Answer
  ) throws(CacheError) -> Answer? {
    var trouble = IndexFault.file(FileFault("open", folder.index, reason: 0))
    // The second time is for an index that was damaged; damage to the new one is not ours to repair.
    for _ in 0..<2 {
      do throws(IndexFault) {
        guard let lent = try borrow(creating: creating) else { return nil }
        lent.index.connection.patience = patience
        do throws(SQLiteError) {
          let answer = try body(lent.index)
          giveBack(lent)
          return answer
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
    if identity == nil {
      // A cache that has lost its index only is still one: its catalogs tell what there is.
      guard creating || folder.exists(folder.bodies) else { return nil }
    }
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
