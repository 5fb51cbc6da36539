import Glibc

/// An open file that closes itself, and with that gives back its lock.
struct OpenLedger: ~Copyable {
  let path: String
  let descriptor: Int32

  /// Opens a file without waiting, as opening a pipe would; a new one is for the user alone.
  init(_ path: String, _ flags: Int32) throws(UsageFault) {
    var result: Int32
    repeat {
      result = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
    } while result < 0 && errno == EINTR
    guard result >= 0 else { throw UsageFault(flags & O_ACCMODE == O_RDONLY ? "read" : "write", path) }
    var status = stat()
    let isKnown = fstat(result, &status) == 0
    let type = status.st_mode & S_IFMT
    guard isKnown, type == S_IFREG else {
      let reason = isKnown ? type == S_IFDIR ? EISDIR : EINVAL : errno
      close(result)
      throw UsageFault("use", path, reason: reason)
    }
    self.path = path
    descriptor = result
  }

  deinit { close(descriptor) }

  func status() throws(UsageFault) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw UsageFault("look at", path) }
    return status
  }

  func length() throws(UsageFault) -> Int { Int(try status().st_size) }

  /// Whether the last line has no end, as it was torn.
  func endsWithin(_ length: Int) throws(UsageFault) -> Bool {
    var last: UInt8 = 0
    guard pread(descriptor, &last, 1, length - 1) == 1 else { throw UsageFault("read", path) }
    return last != UInt8(ascii: "\n")
  }

  /// More bytes of lines that nobody understands than this are those of something else.
  private static let greatestForeignLength = 1 << 20

  /// Adds up all lines.
  ///
  /// - Returns: The sums, and where the last line that has its end ends.
  /// - Throws: ``UsageFault``, `EFBIG` where nobody understands too much of it.
  func sheet() throws(UsageFault) -> (sheet: UsageSheet, end: Int) {
    var sheet = UsageSheet()
    var (rest, end): ([UInt8], Int) = ([], 0)
    try forEachBlock(from: 0) { block throws(UsageFault) in
      rest += block
      let length = UsageSheet.lengthOfLines(rest)
      sheet.add(lines: rest[..<length])
      rest.removeFirst(length)
      end += length
      guard sheet.foreignLength + rest.count <= Self.greatestForeignLength else {
        throw UsageFault("read", path, reason: EFBIG)
      }
    }
    return (sheet, end)
  }

  /// Reads to the end.
  func read(from start: Int) throws(UsageFault) -> [UInt8] {
    var bytes: [UInt8] = []
    try forEachBlock(from: start) { bytes += $0 }
    return bytes
  }

  private func forEachBlock(
    from start: Int,
    _ take: (ArraySlice<UInt8>) throws(UsageFault) -> Void
  ) throws(UsageFault) {
    guard lseek(descriptor, start, SEEK_SET) == start else { throw UsageFault("read", path) }
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count == 0 { return }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw UsageFault("read", path) }
      try take(block[..<count])
    }
  }

  /// Writes all with one call.
  ///
  /// - Returns: How many bytes were taken: fewer on a disk that is full, where the line counts as torn.
  func write(_ bytes: [UInt8]) throws(UsageFault) -> Int {
    while true {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw UsageFault("write", path) }
      return count
    }
  }
}

/// An open file that is locked, and is the one of its name.
struct LockedLedger: ~Copyable {
  private let file: OpenLedger

  /// Another that replaces the file over and over would have to be faster as often as this.
  private static let greatestReplacements = 100

  /// - Parameters:
  ///   - path: The file.
  ///   - lock: `LOCK_SH` or `LOCK_EX`.
  ///   - tries: How often to try again, a millisecond apart.
  ///   - flags: As `open` takes them.
  /// - Throws: ``UsageFault``, `EWOULDBLOCK` where another has a lock that excludes this one.
  init(_ path: String, _ lock: Int32, within tries: Int, _ flags: Int32) throws(UsageFault) {
    for _ in 0..<Self.greatestReplacements {
      let file = try OpenLedger(path, flags)
      try Self.lock(file, lock, tries)
      var named = stat()
      let locked = try file.status()
      if stat(path, &named) == 0, named.st_ino == locked.st_ino, named.st_dev == locked.st_dev {
        self.file = file
        return
      }
    }
    throw UsageFault("lock", path, reason: EWOULDBLOCK)
  }

  private static func lock(_ file: borrowing OpenLedger, _ lock: Int32, _ tries: Int) throws(UsageFault) {
    for attempt in 0... {
      if flock(file.descriptor, lock | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR, attempt < tries else {
        throw UsageFault("lock", file.path)
      }
      poll(nil, 0, 1)
    }
  }

  var path: String { file.path }

  private var descriptor: Int32 { file.descriptor }

  func status() throws(UsageFault) -> stat { try file.status() }

  func length() throws(UsageFault) -> Int { try file.length() }

  func endsWithin(_ length: Int) throws(UsageFault) -> Bool { try file.endsWithin(length) }

  func read(from start: Int) throws(UsageFault) -> [UInt8] { try file.read(from: start) }

  /// Puts the bytes in place of the content, on the disk when this returns.
  func replaceContent(with bytes: [UInt8]) throws(UsageFault) {
    guard ftruncate(descriptor, 0) == 0 else { throw UsageFault("write", path) }
    try writeAll(bytes)
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw UsageFault("flush", path) }
  }

  /// - Throws: ``UsageFault``, `ENOSPC` where the disk took a part alone.
  func writeAll(_ bytes: [UInt8]) throws(UsageFault) {
    guard try file.write(bytes) == bytes.count else { throw UsageFault("write", path, reason: ENOSPC) }
  }
}
