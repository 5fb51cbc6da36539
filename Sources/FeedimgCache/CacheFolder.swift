import FeedimgSystem
import Glibc

/// The layout of a cache on disk, and what is done to its files.
///
/// ```
/// index.sqlite        which bodies there are; -wal and -shm beside it
/// lock                held while the index is opened, made or replaced; a byte for each time the cache was cleared
/// incoming/           bodies that are being written, and a file for each process that writes, locked by them
/// partial/            beginnings of bodies whose transfers broke off, one for a key
/// bodies/3f/          bodies whose key's hash begins with 3f, as they came
/// ```
struct CacheFolder: Sendable, Hashable {
  let path: String
  /// These two are made once, as each look-up needs them.
  let index: String
  let bodies: String

  init(_ path: String) {
    var end = path[...]
    while end.count > 1, end.hasSuffix("/") { end.removeLast() }
    self.path = String(end)
    index = end + "/index.sqlite"
    bodies = end + "/bodies"
  }

  /// Where an index that cannot be read is put aside.
  var damagedIndex: String { path + "/index.sqlite.damaged" }
  var lock: String { path + "/lock" }
  var incoming: String { path + "/incoming" }
  var partial: String { path + "/partial" }
  /// Tells backup programs to leave the folder out (bford.info/cachedir).
  var tag: String { path + "/CACHEDIR.TAG" }

  static let tagContent = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This folder is a cache of images, made by feedimg; everything in it can be fetched again.

    """

  /// What SQLite puts beside a database.
  static let indexCompanions = ["-wal", "-shm", "-journal"]

  func folder(of shard: Shard) -> String { "\(bodies)/\(shard.name)" }
  func path(of body: BodyName) -> String {
    String(unsafeUninitializedCapacity: capacity) { write(body, into: $0) }
  }

  /// For the path of a body, in bytes.
  private var capacity: Int { bodies.utf8.count + 4 + BodyName.greatestLength }

  /// Writes the path of a body in one piece, as each look-up needs one; its length.
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

  /// A name for a body that is being written, never given twice.
  private func incomingPath() -> String { "\(incoming)/\(UInt64.random(in: .min ... .max).hexadecimal)" }

  /// Makes a file in `incoming` that is locked, as others remove those that can be locked.
  func makeIncomingFile(ending: String = "", _ flags: Int32) throws(FileFault) -> OpenFile {
    while true {
      let flags = flags | O_CREAT | O_EXCL | O_NOFOLLOW
      let file = try OpenFile(incomingPath() + ending, to: "write", flags, mode: 0o600)
      // A sweep between the two calls removes the file; then another is made.
      let isLocked = (try? file.tryLock()) ?? true
      if isLocked, !file.isUnlinked { return file }
    }
  }
}

extension CacheFolder {
  /// The index file that a path leads to, told from others that had its name before.
  struct Identity: Hashable {
    var device: UInt
    var inode: UInt
  }

  /// The index file there is now; nil for none.
  ///
  /// - Throws: ``FileFault`` when it cannot be told whether there is one.
  func indexIdentity() throws(FileFault) -> Identity? {
    guard isNameable else { return nil }
    guard let status = try Self.status(index) else { return nil }
    return Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }

  /// How often the cache was cleared; zero again after the folder was removed.
  var clearCount: Int { (try? Self.status(lock)).flatMap { $0 }.map { Int($0.st_size) } ?? 0 }

  /// Counts that the cache is being cleared; only with the lock held.
  func countClear() throws(FileFault) {
    try OpenFile(lock, to: "write", O_WRONLY | O_APPEND | O_NOFOLLOW).write([0])
  }

  /// Whether the index ends within a page: SQLite takes what is missing for zeros, and rows for absent.
  var isIndexTorn: Bool {
    guard let status = try? Self.status(index) else { return false }
    return Int(status.st_size) % IndexSchema.pageSize != 0
  }

  /// The length of a body's file; nil where there is none.
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

  /// The room on the file system; nil where it cannot be told.
  func room() -> DiskRoom? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    func bytes(_ blocks: fsblkcnt_t) -> Int {
      let (bytes, overflow) = UInt(blocks).multipliedReportingOverflow(by: UInt(status.f_frsize))
      return overflow ? .max : Int(clamping: bytes)
    }
    return DiskRoom(available: bytes(status.f_bavail), size: bytes(status.f_blocks))
  }

  /// In bytes; files take whole ones.
  var blockSize: Int {
    var status = statvfs()
    return statvfs(path, &status) == 0 ? min(max(512, Int(clamping: status.f_frsize)), 1 << 20) : 4096
  }

  /// What the index takes of the disk, in bytes.
  var bookkeepingSize: Int {
    let files = [index] + Self.indexCompanions.map { index + $0 }
    return files.reduce(0) { $0 + ((try? Self.status($1))?.map { Int($0.st_blocks) * 512 } ?? 0) }
  }

  /// The shards that have a folder.
  func shards() throws(FileFault) -> [Shard] {
    let names = Set(try Self.names(in: bodies))
    return Shard.all.filter { names.contains($0.name) }
  }

  /// Whether the path means to the kernel what it means to us.
  private var isNameable: Bool { !path.isEmpty && !path.utf8.contains(0) }

  func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private static func status(_ path: String) throws(FileFault) -> stat? {
    var status = stat()
    if stat(path, &status) == 0 { return status }
    guard errno == ENOENT || errno == ENOTDIR else { throw FileFault("look at", path) }
    return nil
  }

  /// Makes the folder and those that it needs, for the user alone; those that are there stay as they are.
  func create() throws(FileFault) {
    guard isNameable else { throw FileFault("make the folder", path, reason: EINVAL) }
    guard !exists(incoming) || !exists(bodies) else { return }
    let isNew = try Self.makeFolder(path)
    try Self.makeFolder(incoming)
    try Self.makeFolder(bodies)
    // A cache without its tag works as well.
    if isNew { try? writeTag() }
  }

  /// Writes a body that is whole in memory, under a name that no file has.
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

  /// Makes the file of the index for the user alone, as SQLite would leave that to the process; those beside it follow.
  ///
  /// Only where there is none: closing it would take away the locks that this process has on it.
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

  /// Makes a folder and those above it; whether it was not there before.
  @discardableResult
  static func makeFolder(_ path: String) throws(FileFault) -> Bool {
    if mkdir(path, 0o700) == 0 { return true }
    let fault = FileFault("make the folder", path)
    if fault.reason == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try makeFolder(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 { return true }
    }
    var status = stat()
    // What is there is reported as such, before the kernel's reason, such as a read-only file system.
    guard stat(path, &status) == 0 else { throw fault }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw FileFault("make the folder", path, reason: ENOTDIR)
    }
    return false
  }

  /// Unlinks bodies whose rows have gone; one that stays is found by the sweep.
  func remove(_ bodies: [BodyName]) {
    for body in bodies { unlink(path(of: body)) }
  }

  /// Removes the bodies of a shard, and its folder where nothing else is in it.
  ///
  /// - Throws: ``FileFault`` of the first that cannot be removed; the others have been removed then.
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

  /// Whether we made the file of a name in a shard; earlier versions kept a catalog beside the bodies.
  static func isOurs(_ name: String) -> Bool { BodyName(name) != nil || name.hasPrefix("catalog") }

  /// The names in a folder, in no order; none where there is no folder.
  static func names(in folder: String) throws(FileFault) -> [String] {
    guard let stream = opendir(folder) else {
      guard errno == ENOENT else { throw FileFault("list", folder) }
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw FileFault("list", folder) }
        return names
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
        start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }
}
