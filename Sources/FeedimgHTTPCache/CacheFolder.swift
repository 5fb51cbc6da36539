import FeedimgSystem
import Glibc

/// The folder of a disk cache, and operations on its files.
///
/// ```
/// index.sqlite        one row for each body; with -wal and -shm
/// lock                locked while the index is opened, created or replaced; one byte for each removal by a user
/// incoming/           bodies that are being written, and one locked file for each process that writes
/// partial/            partial downloads, at most one for a key
/// bodies/3f/          bodies whose key has a hash that begins with 3f
/// ```
struct CacheFolder: Sendable, Hashable {
  let path: String
  /// Stored, because each read needs them.
  let index: String
  let bodies: String
  let lock: String

  init(_ path: String) {
    var end = path[...]
    while end.count > 1, end.hasSuffix("/") { end.removeLast() }
    self.path = String(end)
    index = end + "/index.sqlite"
    bodies = end + "/bodies"
    lock = end + "/lock"
  }

  /// The place of an index that could not be read.
  var damagedIndex: String { path + "/index.sqlite.damaged" }
  var incoming: String { path + "/incoming" }
  var partial: String { path + "/partial" }
  /// Tells backup programs to skip the folder (bford.info/cachedir).
  var tag: String { path + "/CACHEDIR.TAG" }

  static let tagContent = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This folder is a cache of images, made by feedimg; everything in it can be fetched again.

    """

  /// The endings of the files that SQLite makes beside a database.
  static let indexCompanions = ["-wal", "-shm", "-journal"]

  func folder(of shard: Shard) -> String { "\(bodies)/\(shard.name)" }
  func path(of body: BodyName) -> String {
    String(unsafeUninitializedCapacity: capacity) { write(body, into: $0) }
  }

  /// The length of a buffer for the path of a body, in bytes.
  private var capacity: Int { bodies.utf8.count + 4 + BodyName.maximumLength }

  /// Writes the path of a body in one pass, because each read needs it, and returns its length.
  private func write(_ body: BodyName, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var count = buffer.initialize(fromContentsOf: bodies.utf8)
    func write(_ byte: UInt8) {
      buffer.initializeElement(at: count, to: byte)
      count += 1
    }
    write(UInt8(ascii: "/"))
    body.keyHash.writeHexadecimal(digits: 2, write)
    write(UInt8(ascii: "/"))
    body.write(write)
    return count
  }

  /// A new path for a body that is being written.
  private func incomingPath() -> String { "\(incoming)/\(UInt64.random(in: .min ... .max).hexadecimal)" }

  /// Creates a locked file in `incoming`.
  func makeIncomingFile(ending: String = "", _ flags: Int32) throws(FileFault) -> OpenFile {
    while true {
      let flags = flags | O_CREAT | O_EXCL | O_NOFOLLOW
      let file = try OpenFile(incomingPath() + ending, to: "write", flags, mode: 0o600)
      // A sweep may remove the file before it is locked. The loop then creates another one.
      let isLocked = (try? file.tryLock()) ?? true
      if isLocked, !file.isUnlinked { return file }
    }
  }
}

extension CacheFolder {
  /// Tells an index file apart from others with the same path.
  struct Identity: Hashable {
    var device: UInt
    var inode: UInt
  }

  /// The identity of the index file; nil if there is none.
  ///
  /// - Throws: ``FileFault`` if the path cannot be examined.
  func indexIdentity() throws(FileFault) -> Identity? {
    guard isNameable else { return nil }
    guard let status = try Self.status(index) else { return nil }
    return Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }

  /// Whether the index ends inside a page.
  ///
  /// SQLite would read zeros there and miss rows.
  var isIndexTorn: Bool {
    guard let status = try? Self.status(index) else { return false }
    return Int(status.st_size) % IndexSchema.pageSize != 0
  }

  /// The length of the file of a body; nil if it is missing.
  func size(of body: BodyName) -> Int? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity + 1) { buffer in
      buffer.initializeElement(at: write(body, into: buffer), to: 0)
      var status = stat()
      let isThere = buffer.withMemoryRebound(to: CChar.self) { path in
        path.baseAddress.map { stat($0, &status) == 0 } ?? false
      }
      return isThere && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }
  }

  /// The free space of the file system; nil if it cannot be read.
  func freeSpace() -> FreeSpace? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    func bytes(_ blocks: fsblkcnt_t) -> Int {
      let (bytes, overflow) = UInt(blocks).multipliedReportingOverflow(by: UInt(status.f_frsize))
      return overflow ? .max : Int(clamping: bytes)
    }
    return FreeSpace(available: bytes(status.f_bavail), size: bytes(status.f_blocks))
  }

  /// The block size of the file system, in bytes.
  var blockSize: Int {
    var status = statvfs()
    return statvfs(path, &status) == 0 ? min(max(512, Int(clamping: status.f_frsize)), 1 << 20) : 4096
  }

  /// The disk space of the index, in bytes.
  var bookkeepingSize: Int {
    let files = [index] + Self.indexCompanions.map { index + $0 }
    return files.reduce(0) { $0 + ((try? Self.status($1))?.map { Int($0.st_blocks) * 512 } ?? 0) }
  }

  /// The shards that have a folder.
  func shards() throws(FileFault) -> [Shard] {
    let names = Set(try Self.names(in: bodies))
    return Shard.all.filter { names.contains($0.name) }
  }

  /// Whether the path is neither empty nor cut short by a zero byte.
  private var isNameable: Bool { !path.isEmpty && !path.utf8.contains(0) }

  func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private static func status(_ path: String) throws(FileFault) -> stat? {
    var status = stat()
    if stat(path, &status) == 0 { return status }
    guard errno == ENOENT || errno == ENOTDIR else { throw FileFault("look at", path) }
    return nil
  }

  /// Creates the folder and its subfolders, for the user alone.
  ///
  /// Existing folders stay as they are.
  func create() throws(FileFault) {
    guard isNameable else { throw FileFault("make the folder", path, reason: EINVAL) }
    guard !exists(incoming) || !exists(bodies) else { return }
    let isNew = try Self.makeFolder(path)
    try Self.makeFolder(incoming)
    try Self.makeFolder(bodies)
    // A cache without its tag works, too.
    if isNew { try? writeTag() }
  }

  /// Writes a body that is in memory to a new file.
  func write(_ bytes: [UInt8], as body: BodyName) throws(FileFault) {
    let file = try makeBodyFile(body)
    do throws(FileFault) { try file.write(bytes) } catch {
      unlink(file.path)
      throw error
    }
  }

  private func makeBodyFile(_ body: BodyName) throws(FileFault) -> OpenFile {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    do throws(FileFault) {
      return try OpenFile(path(of: body), to: "write", flags, mode: 0o600)
    } catch {
      guard error.reason == ENOENT else { throw error }
      try create()
      try Self.makeFolder(folder(of: body.shard))
      return try OpenFile(path(of: body), to: "write", flags, mode: 0o600)
    }
  }

  /// Creates the index file, readable for the user alone.
  ///
  /// SQLite gives the files beside it the same mode.
  ///
  /// It leaves an existing file alone: opening and closing it would release the locks that this process has on it.
  func makeIndexFile() throws(FileFault) {
    do throws(FileFault) {
      _ = try OpenFile(index, to: "make the index", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    } catch {
      guard error.reason == EEXIST else { throw error }
    }
  }

  private func writeTag() throws(FileFault) {
    let file = try OpenFile(tag, to: "write", O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try file.write(Array(Self.tagContent.utf8))
  }

  /// Creates a folder and its parents.
  ///
  /// - Returns: Whether it was missing.
  @discardableResult
  static func makeFolder(_ path: String) throws(FileFault) -> Bool {
    if mkdir(path, 0o700) == 0 { return true }
    let fault = FileFault("make the folder", path)
    if fault.reason == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try makeFolder(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 { return true }
    }
    var status = stat()
    // If the path has a file, the error says so instead of a reason such as a read-only file system.
    guard stat(path, &status) == 0 else { throw fault }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw FileFault("make the folder", path, reason: ENOTDIR)
    }
    return false
  }

  /// Removes bodies whose rows were removed.
  ///
  /// The next sweep removes those that remain.
  func remove(_ bodies: [BodyName]) {
    for body in bodies { unlink(path(of: body)) }
  }

  /// Removes the bodies of a shard, and its folder if nothing else is in it.
  ///
  /// - Throws: ``FileFault`` for the first body that cannot be removed. The others are removed.
  func clear(_ shard: Shard) throws(FileFault) {
    let folder = folder(of: shard)
    var fault: FileFault?
    let names = try Self.names(in: folder)
    for name in names where Self.isOurs(name) {
      let path = "\(folder)/\(name)"
      if unlink(path) != 0, errno != ENOENT { fault = fault ?? FileFault("remove", path) }
    }
    rmdir(folder)
    if let fault { throw fault }
  }

  /// Whether the cache made a file of a shard.
  ///
  /// Earlier versions kept a catalog beside the bodies.
  static func isOurs(_ name: String) -> Bool { BodyName(name) != nil || name.hasPrefix("catalog") }

  /// The names in a folder, in no order; empty if the folder is missing.
  static func names(in folder: String) throws(FileFault) -> [String] {
    do throws(FileFault) {
      return try FilePath.names(in: folder)
    } catch {
      guard error.reason == ENOENT else { throw error }
      return []
    }
  }
}
