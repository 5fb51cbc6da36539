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

  func write(_ bytes: UnsafeRawBufferPointer, in folder: CacheFolder) throws(FileFault) {
    if size + bytes.count > Self.maximumInMemory { try moveToFile(in: folder) }
    if file == nil { memory.append(contentsOf: bytes) } else { try file?.write(bytes) }
    size += bytes.count
  }

  /// Moves the bytes to a file, which then gets all further bytes.
  func moveToFile(in folder: CacheFolder) throws(FileFault) {
    guard file == nil else { return }
    var body = try IncomingBody(in: folder)
    try body.write(memory)
    memory = []
    file = consume body
  }

  var checksum: UInt64 {
    if let file = file.take() {
      let checksum = file.checksum
      self.file = consume file
      return checksum
    }
    return Checksum.of(memory)
  }

  /// Moves the bytes to the file of a body.
  ///
  /// A second call does nothing.
  func place(as body: BodyName, in folder: CacheFolder) throws(FileFault) {
    guard !isPlaced else { return }
    if file == nil { try folder.write(memory, as: body) } else { try file?.place(as: body, in: folder) }
    isPlaced = true
  }

  func takeFile(in folder: CacheFolder) throws(FileFault) -> IncomingBody? {
    try moveToFile(in: folder)
    return file.take()
  }

  func withFile<Value>(_ body: (borrowing IncomingBody) -> Value?) -> Value? {
    guard let file = file.take() else { return nil }
    let value = body(file)
    self.file = consume file
    return value
  }
}

/// Writes one image to the disk cache.
///
/// Sendable because the port promises that only one thread uses a writer at a time.
final class BodyWriter: ImageWriting, @unchecked Sendable {
  private let cache: DiskCache
  /// Nil after a commit, a discard or a failure.
  private var body: PendingBody?
  /// The path of the note that announces the body.
  private var announcement: String?

  init(cache: DiskCache, since removals: Int) {
    self.cache = cache
    body = PendingBody(removals: removals)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
    guard let body else { throw Self.finished }
    do throws(FileFault) {
      do throws(FileFault) {
        try body.write(bytes, in: cache.folder)
      } catch {
        guard error.isDiskFull else { throw error }
        // On a small volume, older images are evicted.
        cache.evict(atLeast: max(body.size + bytes.count, DiskCache.minimumRoom))
        try body.write(bytes, in: cache.folder)
      }
    } catch {
      self.body = nil
      throw cache.refusal(error, .body, size: body.size + bytes.count)
    }
  }

  func makeReader() -> (any WrittenReading)? {
    guard let body, (try? body.moveToFile(in: cache.folder)) != nil else { return nil }
    return body.withFile { BodyReader(again: $0.descriptor) }
  }

  func commit(_ metadata: ImageMetadata) throws(CacheError) -> StoredImage {
    guard let body = body.take() else { throw Self.finished }
    defer { withdraw() }
    return try cache.store(body, cache.record(of: body, metadata))
  }

  func commit(
    _ metadata: ImageMetadata,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage {
    guard let body = body.take() else { throw Self.finished }
    defer { withdraw() }
    return try await cache.store(body, cache.record(of: body, metadata), later)
  }

  func announce(_ metadata: ImageMetadata) {
    guard let body, !isCleared(body), (try? body.moveToFile(in: cache.folder)) != nil else { return }
    let path = body.withFile { cache.announce($0, metadata) }
    if path != announcement { withdraw() }
    announcement = path
  }

  func keepPartial(_ metadata: ImageMetadata) throws(CacheError) {
    guard let body = body.take() else { throw Self.finished }
    defer { withdraw() }
    guard body.size > 0, !isCleared(body), body.size <= cache.limits.partialDownloads.bytes else { return }
    // After a kill, the record behind the bytes must not be taken for bytes of the image.
    if announcement != nil, body.withFile({ cache.announce($0, metadata, size: $0.size) }) == nil {
      withdraw()
    }
    do throws(FileFault) {
      guard let file = try body.takeFile(in: cache.folder) else { return }
      try cache.keepPartial(file, metadata)
    } catch {
      throw CacheError(.body, error.description)
    }
  }

  func discard() {
    body = nil
    withdraw()
  }

  private func isCleared(_ body: PendingBody) -> Bool {
    cache.removalCount.includesClear(since: body.removals)
  }

  private func withdraw() {
    if let path = announcement.take() { cache.withdrawAnnouncement(at: path) }
  }

  private static let finished = CacheError(
    .body,
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
    do throws(FileFault) {
      file = try OpenFile("/proc/self/fd/\(descriptor)", to: "read", O_RDONLY)
    } catch {
      return nil
    }
  }

  func bytes(at position: Int, count: Int) -> [UInt8]? {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count, !failed {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = pread(file.descriptor, rest.baseAddress, rest.count, position + filled)
        if got > 0 { filled += got } else { failed = got == 0 || errno != EINTR }
      }
    }
    return failed ? nil : bytes
  }
}

/// A body that is being written, in a file of `incoming`.
///
/// The file is locked while this value lives. An unlocked file in `incoming` belonged to a process that was killed.
/// Unless ``place(as:in:)`` renames it, the file is removed with the value.
struct IncomingBody: ~Copyable {
  private var file: OpenFile
  private var checksumSoFar: Checksum
  private(set) var size = 0
  private var isPlaced = false

  /// Creates the file, and its folders if they are missing.
  init(in folder: CacheFolder) throws(FileFault) {
    guard let checksum = Checksum() else { throw FileFault("write", folder.incoming, reason: ENOMEM) }
    let made = try Self.makeFile(in: folder)
    checksumSoFar = checksum
    file = made
  }

  deinit {
    if !isPlaced { unlink(file.path) }
  }

  var checksum: UInt64 { checksumSoFar.value }

  var descriptor: Int32 { file.descriptor }

  static func makeFile(in folder: CacheFolder, ending: String = "") throws(FileFault) -> OpenFile {
    while true {
      do throws(FileFault) {
        return try folder.makeIncomingFile(ending: ending, O_RDWR)
      } catch {
        guard [ENOENT, ENOTDIR].contains(error.reason) else { throw error }
        try folder.create()
        guard folder.exists(folder.incoming) else { throw error }
      }
    }
  }

  /// Appends all bytes, or none if it throws.
  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FileFault) {
    do throws(FileFault) {
      try file.write(bytes)
    } catch {
      lseek(file.descriptor, off_t(size), SEEK_SET)
      throw error
    }
    checksumSoFar.update(bytes)
    size += bytes.count
  }

  mutating func write(_ bytes: [UInt8]) throws(FileFault) {
    var fault: FileFault?
    bytes.withUnsafeBytes { bytes in
      do throws(FileFault) { try write(bytes) } catch { fault = error }
    }
    if let fault { throw fault }
  }

  /// The name of the file, without its folder.
  var name: String { file.path.split(separator: "/").last.map(String.init) ?? "" }

  /// Renames the file to its final name.
  ///
  /// It also works after the folder was removed.
  mutating func place(as body: BodyName, in folder: CacheFolder) throws(FileFault) {
    let path = folder.path(of: body)
    guard rename(file.path, path) != 0 else {
      isPlaced = true
      return
    }
    guard errno == ENOENT else { throw FileFault("write", path) }
    try folder.create()
    try CacheFolder.makeFolder(folder.folder(of: body.shard))
    if file.isUnlinked { file = try copy(in: folder) }
    guard rename(file.path, path) == 0 else { throw FileFault("write", path) }
    isPlaced = true
  }

  /// Appends a trailer and renames the file.
  mutating func place(at path: String, endingWith trailer: [UInt8]) throws(FileFault) {
    try file.write(trailer)
    guard rename(file.path, path) == 0 else { throw FileFault("write", path) }
    isPlaced = true
  }

  /// A copy of the bytes in a file that has a name.
  private func copy(in folder: CacheFolder) throws(FileFault) -> OpenFile {
    let copy = try Self.makeFile(in: folder)
    do throws(FileFault) {
      try copy.write(try file.read(count: size))
      return copy
    } catch {
      unlink(copy.path)
      throw error
    }
  }
}

/// The result of reading the body of an entry.
enum StoredBody {
  case whole([UInt8])
  /// The body is missing or altered.
  case wrong
  /// The body cannot be read now: no descriptors are left, a permission is missing, or the disk fails.
  case unreadable(FileFault)

  /// Reads the body, and checks its length and checksum.
  static func read(_ record: EntryRecord, path: String) -> StoredBody {
    do throws(FileFault) {
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
