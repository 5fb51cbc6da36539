package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Synchronization

/// Stores images and responses in a folder, one file each, with an index in SQLite.
///
/// Several processes may share it.
///
/// Any process may be killed at any time. The last images may then be lost, but no body is ever wrong or truncated:
/// each body has a new name and is verified by its checksum. A row is inserted after its body and removed before it. So
/// a kill leaves a file without a row, which the next process that writes removes. Only eviction on a full disk removes
/// bodies first; a row without its body counts as absent.
package final class DiskCache: Sendable {
  let folder: CacheFolder
  let pool: IndexPool
  let removalCount: RemovalCount
  let clock: @Sendable () -> Double

  /// Guards the limits.
  private let limitsInForce: Mutex<CacheLimits>
  /// Guards the uses that are not in the index yet.
  private let ledger = Mutex(TouchLedger())

  /// Guards the images that wait for the next transaction, which runs outside.
  let waiting = Mutex<[WaitingImage]>([])

  private struct Session {
    var file: WriterSession?
    /// The number of stored images.
    var stored = 0
    /// When a commit last removed expired entries, in seconds since 1970.
    var expiredAt: Int?
  }

  /// Guards the session of this process.
  private let session = Mutex(Session())

  /// Opens nothing; the index is opened or created when it is first needed.
  ///
  /// - Parameters:
  ///   - folder: An absolute path. The folder is created when the first image is stored.
  ///   - limits: The limits.
  ///   - clock: Seconds since 1970; may jump.
  package init(folder: String, limits: CacheLimits, clock: @escaping @Sendable () -> Double) {
    self.folder = CacheFolder(folder)
    pool = IndexPool(folder: self.folder)
    removalCount = RemovalCount(of: self.folder)
    limitsInForce = Mutex(limits)
    self.clock = clock
  }

  deinit { close() }

  /// The limits.
  ///
  /// A lower limit takes effect with the next commit or with ``trim(to:progress:)``.
  package var limits: CacheLimits {
    get { limitsInForce.withLock { $0 } }
    set { limitsInForce.withLock { $0 = newValue } }
  }

  /// Writes the recorded uses and closes the index.
  ///
  /// The cache stays usable.
  package func close() {
    writeLedger()
    endWriting()
    pool.close()
  }

  /// Tells other processes that this one writes, before it places or removes a body.
  ///
  /// A process that is killed leaves its session file. The next process that begins to write then sweeps the folder.
  ///
  /// - Throws: ``FileError`` if the folder cannot be written.
  func beginWriting() throws(FileError) {
    if session.withLock({ $0.file.map { !$0.isOver } ?? false }) { return }
    let new = try WriterSession(in: folder)
    session.withLock { $0.file = new }
    // A new index records that there are bodies of an earlier one.
    if !folder.exists(folder.index) { _ = try? pool.write { _ throws(SQLiteError) in } }
    sweepIncoming()
  }

  /// ``beginWriting()`` with the error for callers; on a full disk, evicts for the next attempt.
  func beginWritingOrRefuse() throws(CacheError) {
    do throws(FileError) { try beginWriting() } catch { throw evictIfFull(after: error) }
  }

  /// Tells other processes that this one writes no more.
  func endWriting() {
    let ended = session.withLock { session in session.file.take() }
    _ = consume ended
  }

  /// Looks for files of killed processes after every 64 commits.
  func countCommit() {
    let stored = session.withLock { session in
      session.stored += 1
      return session.stored
    }
    if stored % 64 == 0 { sweepIncoming() }
  }

  /// Whether a minute has passed since a commit removed expired entries and replaced bodies.
  func isExpiryDue(at now: Int) -> Bool {
    session.withLock { session in session.expiredAt.map { !($0..<$0 + 60).contains(now) } ?? true }
  }

  /// Records that a commit removed them.
  func noteExpiry(at now: Int) { session.withLock { $0.expiredAt = now } }

  /// Seconds since 1970, limited so that no sum overflows.
  var now: Int { Milliseconds.count(clock()) / 1000 }

  /// Seconds since 1970, to the millisecond.
  var time: Double { Milliseconds.seconds(Milliseconds.count(clock())) }

  /// Entries that were not used since this time have expired.
  var expiry: Int { now - limits.unusedSeconds }

  func isExpired(_ entry: CacheIndex.Entry) -> Bool { !entry.record.isPinned && entry.usedAt < expiry }
}

extension DiskCache: ImageStoring {
  package var removals: Int { removalCount.value }

  package func follow(_ settings: UserSettings) { limits = CacheLimits(settings) }

  package func contains(_ keys: [String]) -> [Bool] {
    let found = try? pool.read { index throws(SQLiteError) in
      var isThere: [Bool] = []
      try index.forEachEntry(of: keys) { entry in isThere.append(entry.map { isPresent($0) } ?? false) }
      return isThere
    }
    return (found ?? nil) ?? keys.map { _ in false }
  }

  private func isPresent(_ entry: CacheIndex.Entry) -> Bool {
    !isExpired(entry) && folder.size(of: entry.record.body) == entry.record.size
  }

  package func read(_ key: String, for request: HTTPFields?) -> (image: StoredImage, bytes: [UInt8])? {
    // Another process may replace the image between the reads of the index and of the body.
    for _ in 0..<3 {
      guard let found = find(key, for: request) else { break }
      let entry = found.entry
      if isExpired(entry) {
        remove(entry.record)
        break
      }
      switch StoredBody.read(entry.record, path: folder.path(of: entry.record.body)) {
      case .whole(let bytes):
        noteHit(entry)
        var image = image(entry)
        // The response must be from the same record as the bytes.
        image.response = found.response
        return (image, bytes)
      case .wrong:
        if remove(entry.record) { return missed(key) }
      case .unreadable:
        // Perhaps it can be read later.
        return missed(key)
      }
    }
    return missed(key)
  }

  package func noteUse(of key: String, for request: HTTPFields, times: Int = 1) {
    if let found = find(key, for: request) { noteHit(found.entry, times: times) }
  }

  package func makeWriter(since removals: Int) throws(CacheError) -> any ImageWriting {
    do throws(FileError) { try folder.create() } catch { throw evictIfFull(after: error) }
    return BodyWriter(cache: self, since: removals)
  }

  func image(_ entry: CacheIndex.Entry) -> StoredImage {
    let record = entry.record
    return StoredImage(
      key: VariantKey.url(record.key),
      role: record.role,
      path: folder.path(of: record.body),
      size: ByteCount(record.size),
      checksum: record.checksum,
      mediaType: record.mediaType,
      storedAt: record.storedAt,
      usedAt: Double(entry.usedAt),
      isPinned: record.isPinned
    )
  }

  /// The entry of a key; nil if there is none or the index cannot be read.
  func entry(of key: String) -> CacheIndex.Entry? {
    let found = try? pool.read { index throws(SQLiteError) in try index.entry(of: key) }
    return (found ?? nil) ?? nil
  }

  /// Removes exactly this entry and keeps its pin.
  ///
  /// If the index is busy or read-only, the next read tries again.
  ///
  /// - Returns: False if the key has another entry by now.
  @discardableResult
  func remove(_ record: EntryRecord) -> Bool {
    guard (try? beginWriting()) != nil else { return true }
    let isRemoved = pool.writeIfIdle { index throws(SQLiteError) in
      try index.delete(record, keepsPin: true)
    }
    if isRemoved == true { folder.remove([record.body]) }
    return isRemoved != false
  }

  private func missed(_ key: String) -> (image: StoredImage, bytes: [UInt8])? {
    // The counters are for images only.
    guard !ResponseKey.isResponse(key) else { return nil }
    ledger.withLock { $0.noteMiss() }
    writeLedgerIfDue()
    return nil
  }

  private func noteHit(_ entry: CacheIndex.Entry, times: Int = 1) {
    let (now, times) = (now, entry.record.isResponse ? 0 : times)
    let (key, first) = (entry.record.key, VariantKey.url(entry.record.key))
    ledger.withLock { ledger in
      ledger.noteHit(entry.record.identifier, times: times, usedAt: entry.usedAt, now: now)
      guard first != key else { return }
      // The other variants are found only while the first one is there.
      ledger.noteHit(Int64(bitPattern: Checksum.of(first)), times: 0, usedAt: entry.usedAt, now: now)
    }
    writeLedgerIfDue()
  }

  private func writeLedgerIfDue() {
    let now = clock()
    if ledger.withLock({ $0.isDue(now: now) }) { writeLedger() }
  }

  /// Writes the recorded uses, or forgets them if another process is writing.
  func writeLedger() {
    let page = ledger.withLock { $0.takePage(now: clock()) }
    guard !page.isEmpty else { return }
    _ = pool.writeIfIdle { index throws(SQLiteError) in
      try index.touch(page.uses)
      try index.add(page.hits, to: .hits)
      try index.add(page.misses, to: .misses)
    }
  }
}

extension DiskCache {
  package func response(for key: String, to request: HTTPFields?) -> StoredResponse? {
    guard let found = find(key, for: request), !isExpired(found.entry) else { return nil }
    return found.response
  }

  package func image(of key: String) -> StoredImage? {
    guard let entry = entry(of: key), !isExpired(entry) else { return nil }
    var image = image(entry)
    image.response = StoredResponse(entry.record)
    return image
  }

  @discardableResult
  package func refresh(
    _ key: String,
    validating stored: StoredResponse,
    response: StoredResponse
  ) throws(CacheError) -> StoredResponse? {
    let version = Validators(of: stored)
    // Another process may replace the entry between the read and the write: read again then.
    for _ in 0..<3 {
      guard let found = find(key, for: stored.varied), let current = found.response, !isExpired(found.entry)
      else {
        return nil
      }
      let record = found.entry.record
      guard Validators(of: current).isSameVersion(as: version),
        let updated = current.validated(by: response, size: record.size)
      else { return nil }
      let new = record.updated(by: updated)
      let isReplaced = try pool.write { index throws(SQLiteError) in try index.replace(record, with: new) }
      if isReplaced { return updated }
    }
    return nil
  }
}
