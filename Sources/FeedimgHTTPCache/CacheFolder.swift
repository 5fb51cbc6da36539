import FeedimgModel
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
  func path(of body: BodyName) -> String { "\(bodies)/\(body.text.prefix(2))/\(body.text)" }

  /// Creates a locked file in `incoming`, and the folders if they are missing.
  func makeIncomingFile(ending: String = "") throws(FileError) -> OpenFile {
    var isCreated = false
    while true {
      let path = "\(incoming)/\(UInt64.random(in: .min ... .max).hexadecimal)\(ending)"
      do throws(FileError) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try OpenFile(path, to: "write", flags, mode: 0o600)
        // A sweep may remove the file before it is locked. The loop then creates another one.
        let isLocked = (try? file.tryLock()) ?? true
        if isLocked, !file.isUnlinked { return file }
      } catch {
        guard [ENOENT, ENOTDIR].contains(error.reason), !isCreated else { throw error }
        try create()
        isCreated = true
      }
    }
  }
}

extension CacheFolder {
  /// The identity of the index file; nil if there is none.
  ///
  /// - Throws: ``FileError`` if the path cannot be examined, also if the folder is a file.
  func indexIdentity() throws(FileError) -> FileIdentity? {
    guard isNameable else { return nil }
    do throws(FileError) {
      return try FileIdentity(index)
    } catch {
      guard error.reason == ENOTDIR else { throw error }
      throw FileError("use the cache", path, reason: ENOTDIR)
    }
  }

  /// Whether the index ends inside a page.
  ///
  /// SQLite would read zeros there and miss rows.
  var isIndexTorn: Bool {
    Self.status(index).map { Int($0.st_size) % IndexSchema.pageSize != 0 } ?? false
  }

  /// The length of the file of a body; nil if it is missing.
  func size(of body: BodyName) -> Int? {
    var status = stat()
    guard stat(path(of: body), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
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
    return files.reduce(0) { $0 + (Self.status($1).map { Int($0.st_blocks) * 512 } ?? 0) }
  }

  /// Whether the path is neither empty nor cut short by a zero byte.
  private var isNameable: Bool { !path.isEmpty && !path.utf8.contains(0) }

  func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// Creates the folder and its subfolders, for the user alone.
  ///
  /// Existing folders stay as they are.
  func create() throws(FileError) {
    guard isNameable else { throw FileError("make the folder", path, reason: EINVAL) }
    guard !exists(incoming) || !exists(bodies) else { return }
    let isNew = !exists(path)
    do throws(FileError) {
      for folder in [path, incoming, bodies] { try FilePath.makeFolder(folder) }
    } catch {
      throw FileError("make the folder", error.path, reason: error.reason)
    }
    // A cache without its tag works, too.
    if isNew { try? writeTag() }
  }

  /// Writes a body that is in memory to a new file.
  func write(_ bytes: [UInt8], as body: BodyName) throws(FileError) {
    let file = try makeBodyFile(body)
    do throws(FileError) { try file.write(bytes) } catch {
      unlink(file.path)
      throw error
    }
  }

  private func makeBodyFile(_ body: BodyName) throws(FileError) -> OpenFile {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    do throws(FileError) {
      return try OpenFile(path(of: body), to: "write", flags, mode: 0o600)
    } catch {
      guard error.reason == ENOENT else { throw error }
      try create()
      try FilePath.makeFolder(folder(of: body.shard))
      return try OpenFile(path(of: body), to: "write", flags, mode: 0o600)
    }
  }

  /// Creates the index file, readable for the user alone.
  ///
  /// SQLite gives the files beside it the same mode.
  ///
  /// It leaves an existing file alone: opening and closing it would release the locks that this process has on it.
  func makeIndexFile() throws(FileError) {
    do throws(FileError) {
      _ = try OpenFile(index, to: "make the index", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    } catch {
      guard error.reason == EEXIST else { throw error }
    }
  }

  private func writeTag() throws(FileError) {
    let file = try OpenFile(tag, to: "write", O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try file.write(Array(Self.tagContent.utf8))
  }

  /// Removes bodies whose rows were removed.
  ///
  /// The next sweep removes those that remain.
  func remove(_ bodies: [BodyName]) {
    for body in bodies { unlink(path(of: body)) }
  }

  /// Removes the bodies of a shard, and its folder if nothing else is in it.
  ///
  /// - Throws: ``FileError`` for the first body that cannot be removed. The others are removed.
  func clear(_ shard: Shard) throws(FileError) {
    let folder = folder(of: shard)
    var fault: FileError?
    let names = try Self.names(in: folder)
    for body in names.compactMap(BodyName.init(_:)) {
      let path = path(of: body)
      if unlink(path) != 0, errno != ENOENT { fault = fault ?? FileError("remove", path) }
    }
    rmdir(folder)
    if let fault { throw fault }
  }

  /// The names in a folder, in no order; empty if the folder is missing.
  static func names(in folder: String) throws(FileError) -> [String] {
    do throws(FileError) {
      return try FilePath.names(in: folder)
    } catch {
      guard error.reason == ENOENT else { throw error }
      return []
    }
  }
}
