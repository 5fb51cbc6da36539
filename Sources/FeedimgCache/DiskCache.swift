package import FeedimgModel
import Synchronization

/// Keeps images in a folder, one file each, with an index in SQLite; several processes may share the folder.
///
/// Any process may be killed at any instruction: entries may be lost, but none is ever wrong or torn, as each body has
/// a name of its own, never given twice, and is read only together with its checksum. The row comes after its body and
/// goes before it.
package final class DiskCache: Sendable {
  let folder: CacheFolder
  let pool: IndexPool
  let clock: @Sendable () -> Double

  /// Guards what the cache may keep.
  private let limitsInForce: Mutex<CacheLimits>
  /// Guards the uses that are not in the index yet.
  private let ledger = Mutex(TouchLedger())

  let waitingRows = WaitingRows()

  /// Guards the log in use; nil before the first commit.
  private let logInUse = Mutex<IntentLog?>(nil)

  /// Opens nothing yet: whatever is needed is opened, and made, when it is needed first.
  ///
  /// - Parameters:
  ///   - folder: An absolute path; the folder is made when the first image is stored.
  ///   - limits: What may be kept.
  ///   - clock: The time in seconds since 1970; it may jump.
  package init(folder: String, limits: CacheLimits, clock: @escaping @Sendable () -> Double) {
    self.folder = CacheFolder(folder)
    pool = IndexPool(folder: self.folder)
    limitsInForce = Mutex(limits)
    self.clock = clock
  }

  deinit { close() }

  /// What the cache may keep; a lower limit takes effect with the next image stored, or with ``trim()``.
  package var limits: CacheLimits {
    get { limitsInForce.withLock { $0 } }
    set { limitsInForce.withLock { $0 = newValue } }
  }

  /// Writes down which images were used and closes the index; the cache can be used on.
  package func close() {
    writeLedger()
    endLog()
    pool.close()
  }

  /// The log for a commit, to be held (`withExtendedLifetime`) until its bodies have gone; nil where none can be written.
  ///
  /// A new one is also the moment to look for those of the dead: who has been killed is started again.
  func log() -> IntentLog? {
    if let log = logInUse.withLock({ $0 }), !log.isOver { return log }
    guard let log = try? IntentLog(in: folder) else { return nil }
    // When another thread was faster, one of the two serves a single commit.
    let earlier = logInUse.withLock { current in
      defer { current = log }
      return current
    }
    if earlier == nil { sweepIncoming() }
    return log
  }

  /// Removes the log once the commits that write to it have ended.
  func endLog() {
    _ = logInUse.withLock { $0.take() }
  }

  /// The time in whole seconds, safe for whatever the clock says.
  var now: Int { Milliseconds.count(clock()) / 1000 }

  /// The use before which entries have expired.
  var expiry: Int { now - limits.unusedSeconds }

  /// Whether an entry has been unused for too long; what is pinned never has.
  func isExpired(_ entry: CacheIndex.Entry) -> Bool { !entry.record.isPinned && entry.usedAt < expiry }
}

extension DiskCache: ImageStoring {
  package func follow(_ settings: UserSettings) { limits = CacheLimits(settings) }

  package func contains(_ keys: [String]) -> [Bool] {
    let found = try? read(for: keys) { index throws(SQLiteError) in
      var isThere: [Bool] = []
      for key in keys {
        let glance = try index.glance(at: key)
        isThere.append(glance.map { isPresent($0) } ?? false)
      }
      return isThere
    }
    return (found ?? nil) ?? keys.map { _ in false }
  }

  private func isPresent(_ glance: CacheIndex.Glance) -> Bool {
    let outline = glance.outline
    guard outline.isPinned || glance.usedAt >= expiry else { return false }
    return folder.size(of: outline.body) == outline.size
  }

  package var isEmpty: Bool {
    guard let found = try? pool.read({ index throws(SQLiteError) in try index.isEmpty() }) else {
      return true
    }
    return found
  }

  package func read(_ key: String) -> (image: StoredImage, bytes: [UInt8])? { read(key, finding: nil) }

  package func read(_ key: String, for request: HTTPFields) -> (image: StoredImage, bytes: [UInt8])? {
    read(key, finding: request)
  }

  private func read(_ key: String, finding request: HTTPFields?) -> (image: StoredImage, bytes: [UInt8])? {
    // Another process may replace the image between our look at the index and at the body; twice is bad luck.
    for _ in 0..<3 {
      guard let found = find(key, for: request) else { break }
      let entry = found.entry
      if isExpired(entry) {
        remove(entry.record)
        break
      }
      let path = folder.path(of: entry.record.body)
      switch StoredBody.read(entry.record, path: path) {
      case .whole(let bytes):
        noteHit(entry)
        var image = entry.record.storedImage(path: path, usedAt: Double(entry.usedAt))
        // From the same record as the bytes: an answer that belongs to others would vouch for the wrong ones.
        image.answer = found.answer
        return (image, bytes)
      case .wrong:
        if remove(entry.record) { return missed() }
      case .unreadable:
        // Perhaps it can be read at another time.
        return missed()
      }
    }
    return missed()
  }

  package func noteUse(of key: String, for request: HTTPFields, times: Int = 1) {
    if let found = find(key, for: request) { noteHit(found.entry, times: times) }
  }

  package func makeWriter() throws(CacheError) -> any ImageWriting {
    try BodyWriter(cache: self)
  }

  /// The entry of a key, as far as the index can be read.
  func entry(of key: String) -> CacheIndex.Entry? {
    let found = try? read(for: [key]) { index throws(SQLiteError) in try index.entry(of: key) }
    return (found ?? nil) ?? nil
  }

  /// Removes exactly this entry, unless the index is busy or cannot be written; then it is missed again next time.
  ///
  /// - Returns: False where the key has another entry by now.
  @discardableResult
  func remove(_ record: EntryRecord) -> Bool {
    let log = log()
    defer { withExtendedLifetime(log) {} }
    let isRemoved = pool.touch { index throws(SQLiteError) in
      guard try index.delete(record) else { return false }
      log?.note([record.body], .going)
      return true
    }
    if isRemoved == true { folder.remove([record.body]) }
    return isRemoved != false
  }

  private func missed() -> (image: StoredImage, bytes: [UInt8])? {
    ledger.withLock { $0.noteMiss() }
    writeLedgerIfDue()
    return nil
  }

  private func noteHit(_ entry: CacheIndex.Entry, times: Int = 1) {
    let now = now
    ledger.withLock { $0.noteHit(entry.record.identifier, times: times, usedAt: entry.usedAt, now: now) }
    writeLedgerIfDue()
  }

  private func writeLedgerIfDue() {
    let now = clock()
    if ledger.withLock({ $0.isDue(now: now) }) { writeLedger() }
  }

  /// Writes down the uses, unless the index is busy: then they wait for the next time.
  func writeLedger() {
    let page = ledger.withLock { $0.takePage(now: clock()) }
    guard !page.isEmpty else { return }
    let isWritten = pool.touch { index throws(SQLiteError) in
      try index.touch(page.touches)
      try index.add(page.hits, to: .hits)
      try index.add(page.misses, to: .misses)
      return true
    }
    if isWritten == nil { ledger.withLock { $0.putBack(page) } }
  }
}
