import FeedimgModel
import FeedimgSystem
import Glibc

/// The bytes of an image that has no row yet.
///
/// A short body is in memory, a longer one in a file.
///
/// Sendable because one thread at a time uses it: the thread of its writer, then the thread that commits.
final class PendingBody: @unchecked Sendable {
  /// The length of the longest body in memory, in bytes.
  static let maximumInMemory = 64 << 10

  private var memory: [UInt8] = []
  private var file: IncomingBody?
  private(set) var size = 0
  private var isPlaced = false
  /// ``RemovalCount/value`` when the load of the image began.
  let removals: Int

  init(removals: Int) { self.removals = removals }

  func write(_ bytes: UnsafeRawBufferPointer, in folder: CacheFolder) throws(FileError) {
    if size + bytes.count > Self.maximumInMemory { try moveToFile(in: folder) }
    if let file { try file.write(bytes) } else { memory.append(contentsOf: bytes) }
    size += bytes.count
  }

  /// Moves the bytes to a file, which then gets all further bytes.
  @discardableResult
  func moveToFile(in folder: CacheFolder) throws(FileError) -> IncomingBody {
    if let file { return file }
    let body = try IncomingBody(in: folder)
    try body.write(memory)
    (memory, file) = ([], body)
    return body
  }

  var checksum: UInt64 { file?.checksum ?? Checksum.of(memory) }

  /// Moves the bytes to the file of a body.
  ///
  /// A second call does nothing.
  func place(as body: BodyName, in folder: CacheFolder) throws(FileError) {
    guard !isPlaced else { return }
    if let file { try file.place(as: body, in: folder) } else { try folder.write(memory, as: body) }
    isPlaced = true
  }
}

/// Writes one image to the disk cache.
///
/// Sendable because the port promises that only one thread uses a writer at a time.
final class BodyWriter: ImageWriting, @unchecked Sendable {
  private let cache: DiskCache
  /// Nil after a commit, a discard or a failure.
  private var body: PendingBody?
  /// The path of the recovery record of the body.
  private var recoveryRecord: String?

  init(cache: DiskCache, since removals: Int) {
    self.cache = cache
    body = PendingBody(removals: removals)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
    guard let body else { throw Self.finished }
    do throws(FileError) {
      do throws(FileError) {
        try body.write(bytes, in: cache.folder)
      } catch {
        guard error.isDiskFull else { throw error }
        // On a small volume, older images are evicted.
        cache.evict(atLeast: max(body.size + bytes.count, DiskCache.minimumRoom))
        try body.write(bytes, in: cache.folder)
      }
    } catch {
      self.body = nil
      // Not ``DiskCache/evictIfFull(after:)``, which would evict as much again.
      throw CacheError(error)
    }
  }

  func makeReader() -> (any WrittenReading)? {
    (try? body?.moveToFile(in: cache.folder)).flatMap { BodyReader(again: $0.descriptor) }
  }

  func commit(
    _ metadata: ImageMetadata,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage {
    guard let body = body.take() else { throw Self.finished }
    defer { removeRecoveryRecord() }
    return try await cache.store(body, cache.record(of: body, metadata), later)
  }

  func writeRecoveryRecord(_ metadata: ImageMetadata) {
    guard let body, !isOutdated(body), let file = try? body.moveToFile(in: cache.folder) else { return }
    let path = cache.writeRecoveryRecord(file, metadata)
    if path != recoveryRecord { removeRecoveryRecord() }
    recoveryRecord = path
  }

  func keepPartial(_ metadata: ImageMetadata) throws(CacheError) {
    guard let body = body.take() else { throw Self.finished }
    defer { removeRecoveryRecord() }
    guard !isOutdated(body) else { throw CacheError("images were removed while it was loading") }
    guard body.size > 0, body.size <= cache.limits.partialDownloads.bytes else { return }
    // First, so that after a kill, the record behind the bytes is not taken for bytes of the image.
    removeRecoveryRecord()
    do throws(FileError) {
      try cache.keepPartial(try body.moveToFile(in: cache.folder), metadata)
    } catch {
      throw CacheError(error.description)
    }
  }

  func discard() {
    body = nil
    removeRecoveryRecord()
  }

  /// Whether a user has removed images since the load began.
  private func isOutdated(_ body: PendingBody) -> Bool { cache.removals > body.removals }

  private func removeRecoveryRecord() {
    if let path = recoveryRecord.take() { unlink(path) }
  }

  private static let finished = CacheError(
    "cannot write an image that was committed or discarded before"
  )
}

/// Reads a body while it is written, also after its file is renamed or removed.
final class BodyReader: WrittenReading {
  private let file: OpenFile

  /// Opens the file again, because a duplicate descriptor would share the lock.
  ///
  /// Nil if it cannot be opened.
  init?(again descriptor: Int32) {
    guard let file = try? OpenFile("/proc/self/fd/\(descriptor)", to: "read", O_RDONLY) else { return nil }
    self.file = file
  }

  func bytes(at position: Int, count: Int) -> [UInt8]? {
    guard let bytes = try? file.read(count: count, from: position) else { return nil }
    return bytes.count == count ? bytes : nil
  }
}

/// A body that is being written, in a file of `incoming`.
///
/// The file is locked while this value lives. An unlocked file in `incoming` belonged to a process that was killed.
/// Unless ``place(as:in:)`` renames it, the file is removed with the value.
final class IncomingBody {
  private let file: OpenFile
  private var checksumSoFar: Checksum
  private(set) var size = 0
  private var isPlaced = false

  /// Creates the file, and its folders if they are missing.
  init(in folder: CacheFolder) throws(FileError) {
    guard let checksum = Checksum() else { throw FileError("write", folder.incoming, reason: ENOMEM) }
    file = try folder.makeIncomingFile()
    checksumSoFar = checksum
  }

  deinit {
    if !isPlaced { unlink(file.path) }
  }

  var checksum: UInt64 { checksumSoFar.value }

  var descriptor: Int32 { file.descriptor }

  /// Appends all bytes, or none if it throws.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
    do throws(FileError) {
      try file.write(bytes)
    } catch {
      lseek(file.descriptor, off_t(size), SEEK_SET)
      throw error
    }
    checksumSoFar.update(bytes)
    size += bytes.count
  }

  func write(_ bytes: [UInt8]) throws(FileError) {
    try bytes.withUnsafeBufferPointer { bytes throws(FileError) in try write(UnsafeRawBufferPointer(bytes)) }
  }

  /// The name of the file, without its folder.
  var name: String { file.path.split(separator: "/").last.map(String.init) ?? "" }

  /// Renames the file to its final name.
  func place(as body: BodyName, in folder: CacheFolder) throws(FileError) {
    let path = folder.path(of: body)
    guard rename(file.path, path) != 0 else {
      isPlaced = true
      return
    }
    guard errno == ENOENT else { throw FileError("write", path) }
    try folder.create()
    try FilePath.makeFolder(folder.folder(of: body.shard))
    guard rename(file.path, path) == 0 else { throw FileError("write", path) }
    isPlaced = true
  }

  /// Appends a trailer and renames the file.
  func place(at path: String, endingWith trailer: [UInt8]) throws(FileError) {
    try file.write(trailer)
    guard rename(file.path, path) == 0 else { throw FileError("write", path) }
    isPlaced = true
  }
}

/// A file in `incoming` that is locked while a process writes.
///
/// An unlocked one is from a process that was killed. There may then be bodies without rows, and rows without bodies.
final class WriterSession: Sendable {
  static let ending = ".session"

  private let file: OpenFile

  init(in folder: CacheFolder) throws(FileError) {
    file = try folder.makeIncomingFile(ending: Self.ending)
  }

  deinit { unlink(file.path) }

  /// Whether the file is gone, as the folder was removed.
  var isOver: Bool { file.isUnlinked }
}

/// The result of reading the body of an entry.
enum StoredBody {
  case whole([UInt8])
  /// The body is missing or altered.
  case wrong
  /// The body cannot be read now: no descriptors are left, a permission is missing, or the disk fails.
  case unreadable(FileError)

  /// Reads the body, and checks its length and checksum.
  static func read(_ record: EntryRecord, path: String) -> StoredBody {
    do throws(FileError) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == record.size else { return .wrong }
      let bytes = try file.read(count: record.size)
      return Checksum.of(bytes) == record.checksum && bytes.count == record.size ? .whole(bytes) : .wrong
    } catch {
      let isGone = [ENOENT, ENOTDIR, ELOOP, EISDIR].contains(error.reason)
      return isGone ? .wrong : .unreadable(error)
    }
  }
}
