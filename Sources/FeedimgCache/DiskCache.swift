package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Synchronization

/// Keeps images in a folder, one file each, with an index in SQLite; several processes may share the folder.
///
/// Any process may be killed at any instruction: the last images may be lost, but none is ever wrong or torn, as each
/// body has a name of its own, never given twice, and is verified by its checksum. The row comes after its body and goes
/// before it, so that a kill leaves at most a file without a row; the next process that writes sweeps those away.
package final class DiskCache: Sendable {
  let folder: CacheFolder
  let pool: IndexPool
  let clock: @Sendable () -> Double

  /// Guards what the cache may keep.
  private let limitsInForce: Mutex<CacheLimits>
  /// Guards the uses that are not in the index yet.
  private let ledger = Mutex(TouchLedger())

  let waiting = WaitingImages()

  /// Guards the session of this process and how many images it has stored.
  private let session = Mutex<(file: WriterSession?, stored: Int)>((nil, 0))

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
    endWriting()
    pool.close()
  }

  /// Tells other processes that this one writes, before it makes or removes a body.
  ///
  /// A process that is killed leaves its session behind; the next one to begin then sweeps the folder.
  ///
  /// - Throws: ``FileFault`` where nothing can be written in the folder.
  func beginWriting() throws(FileFault) {
    if session.withLock({ $0.file.map { !$0.isOver } ?? false }) { return }
    let new = try WriterSession(in: folder)
    session.withLock { $0.file = new }
    // A new index knows whether there are bodies that an earlier one knew.
    if !folder.exists(folder.index) { _ = try? pool.write { _ throws(SQLiteError) in } }
    sweepIncoming()
  }

  /// The same, with the error that callers get.
  func beginWritingOrRefuse() throws(CacheError) {
    do throws(FileFault) { try beginWriting() } catch { throw refusal(error, .folder, size: 0) }
  }

  /// Tells other processes that this one has nothing under way.
  func endWriting() {
    let ended = session.withLock { session in session.file.take() }
    _ = consume ended
  }

  /// Looks for what killed processes have left, and for uses in times to come, after every so many images.
  func tidy() {
    let stored = session.withLock { session in
      session.stored += 1
      return session.stored
    }
    if stored % 64 == 0 { sweepIncoming() }
    guard stored % 256 == 0 else { return }
    let now = now
    _ = pool.touch { index throws(SQLiteError) in
      try index.correctUses(after: now + TouchLedger.coarseness, now: now)
    }
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
    let found = try? pool.read { index throws(SQLiteError) in
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
    guard glance.isPinned || glance.usedAt >= expiry else { return false }
    return folder.size(of: glance.body) == glance.size
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
        // From the same record as the bytes: a response that belongs to others would vouch for the wrong ones.
        image.response = found.response
        return (image, bytes)
      case .wrong:
        if remove(entry.record) { return missed(key) }
      case .unreadable:
        // Perhaps it can be read at another time.
        return missed(key)
      }
    }
    return missed(key)
  }

  package func noteUse(of key: String, for request: HTTPFields, times: Int = 1) {
    if let found = find(key, for: request) { noteHit(found.entry, times: times) }
  }

  package func makeWriter() throws(CacheError) -> any ImageWriting {
    do throws(FileFault) { try folder.create() } catch { throw refusal(error, .folder, size: 0) }
    return BodyWriter(cache: self)
  }

  /// The entry of a key, as far as the index can be read.
  func entry(of key: String) -> CacheIndex.Entry? {
    let found = try? pool.read { index throws(SQLiteError) in try index.entry(of: key) }
    return (found ?? nil) ?? nil
  }

  /// Removes exactly this entry, but not a pin of its key, unless the index is busy or cannot be written; then it is missed again next time.
  ///
  /// - Returns: False where the key has another entry by now.
  @discardableResult
  func remove(_ record: EntryRecord) -> Bool {
    guard (try? beginWriting()) != nil else { return true }
    let isRemoved = pool.touch { index throws(SQLiteError) in
      try index.delete(record, keepsPin: true)
    }
    if isRemoved == true { folder.remove([record.body]) }
    return isRemoved != false
  }

  private func missed(_ key: String) -> (image: StoredImage, bytes: [UInt8])? {
    // The counters are those of images.
    guard !ResponseKey.isResponse(key) else { return nil }
    ledger.withLock { $0.noteMiss() }
    writeLedgerIfDue()
    return nil
  }

  private func noteHit(_ entry: CacheIndex.Entry, times: Int = 1) {
    let (now, times) = (now, entry.record.isResponse ? 0 : times)
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
