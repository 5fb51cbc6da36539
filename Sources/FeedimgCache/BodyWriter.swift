import FeedimgModel
import FeedimgSystem
import Glibc

/// The bytes of an image that has no row yet: in memory while they are few, else in a file.
///
/// Sendable because one thread at a time uses it: that of its writer, then the one that commits.
final class PendingBody: @unchecked Sendable {
  /// So many bytes are held in memory.
  static let greatestInMemory = 64 << 10

  private var memory: [UInt8] = []
  private var file: IncomingBody?
  private(set) var size = 0
  private var isPlaced = false
  /// What ``CacheFolder/clearCount`` was when the writing began.
  let clearCount: Int

  init(in folder: CacheFolder) { clearCount = folder.clearCount }

  func write(_ bytes: UnsafeRawBufferPointer, in folder: CacheFolder) throws(FileFault) {
    if size + bytes.count > Self.greatestInMemory { try moveToFile(in: folder) }
    if file == nil { memory.append(contentsOf: bytes) } else { try file?.write(bytes) }
    size += bytes.count
  }

  /// Has all bytes in a file from now on.
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

  /// Gives the bytes their file among the bodies; once, also where this is tried again.
  func place(as body: BodyName, in folder: CacheFolder) throws(FileFault) {
    guard !isPlaced else { return }
    if file == nil { try folder.write(memory, as: body) } else { try file?.place(as: body, in: folder) }
    isPlaced = true
  }

  /// Takes the bytes as a file.
  func takeFile(in folder: CacheFolder) throws(FileFault) -> IncomingBody? {
    try moveToFile(in: folder)
    return file.take()
  }

  /// Gives the file to the body.
  func withFile<Value>(_ body: (borrowing IncomingBody) -> Value?) -> Value? {
    guard let file = file.take() else { return nil }
    let value = body(file)
    self.file = consume file
    return value
  }
}

/// Writes one image into the disk cache.
///
/// Sendable because the port promises that only one thread uses a writer at a time.
final class BodyWriter: ImageWriting, @unchecked Sendable {
  private let cache: DiskCache
  /// Nil once the writer has been finished, one way or the other.
  private var body: PendingBody?
  /// Where the note is that announces the body.
  private var announcement: String?

  init(cache: DiskCache) {
    self.cache = cache
    body = PendingBody(in: cache.folder)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) {
    guard let body else { throw Self.finished }
    do throws(FileFault) {
      do throws(FileFault) {
        try body.write(bytes, in: cache.folder)
      } catch {
        guard error.isDiskFull else { throw error }
        // On a small volume, older images give way to this one.
        cache.giveWay(atLeast: max(body.size + bytes.count, DiskCache.leastRoom))
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

  func setAside(_ metadata: ImageMetadata) throws(CacheError) {
    guard let body = body.take() else { throw Self.finished }
    defer { withdraw() }
    guard body.size > 0, !isCleared(body), body.size <= cache.limits.beginnings.bytes else { return }
    // What follows the bytes then must not be taken for some of them after a kill.
    if announcement != nil, body.withFile({ cache.announce($0, metadata, size: $0.size) }) == nil {
      withdraw()
    }
    do throws(FileFault) {
      guard let file = try body.takeFile(in: cache.folder) else { return }
      try cache.setAside(file, metadata)
    } catch {
      throw CacheError(.body, error.description)
    }
  }

  func discard() {
    body = nil
    withdraw()
  }

  private func isCleared(_ body: PendingBody) -> Bool { cache.folder.clearCount > body.clearCount }

  private func withdraw() {
    if let path = announcement.take() { cache.withdrawAnnouncement(at: path) }
  }

  private static let finished = CacheError(
    .body,
    "cannot write an image that was finished or given up before"
  )
}

/// Reads a body again that is being written, for as long as this lives; its file may get another name or lose it.
final class BodyReader: WrittenReading {
  private let file: OpenFile

  /// Opens the file anew, since whoever shares a descriptor shares the lock on it; nil where that is not to be had.
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

/// A body that is being written, under a name that means nothing yet.
///
/// Its file is locked for as long as this value lives: a file in `incoming` that can be locked was left by a killed
/// process. Without being placed, it leaves nothing behind.
struct IncomingBody: ~Copyable {
  private var file: OpenFile
  private var checksumSoFar: Checksum
  private(set) var size = 0
  private var isPlaced = false

  /// Makes the file, and the folders for it where they are missing.
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

  /// Appends bytes: all or, on an error, none.
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

  /// Gives the file its final name, whole and at once; also when the folder was removed meanwhile.
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

  /// Gives the file another name, with something at its end; whole and at once.
  mutating func place(at path: String, endingWith trailer: [UInt8]) throws(FileFault) {
    try file.write(trailer)
    guard rename(file.path, path) == 0 else { throw FileFault("write", path) }
    isPlaced = true
  }

  /// The same bytes in a file that has a name.
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

/// What is found where a record says that its body is.
enum StoredBody {
  case whole([UInt8])
  /// There is none, or it is not what was stored.
  case wrong
  /// It cannot be told now, for want of descriptors or rights, or because the disk fails.
  case unreadable(FileFault)

  /// Reads the body and compares its length and checksum.
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
