import Glibc

/// An open file that closes itself.
struct OpenFile: ~Copyable {
  let path: String
  let descriptor: Int32

  /// Opens a file; the purpose says what for, and reads on after "cannot".
  init(_ path: String, to purpose: String, _ flags: Int32, mode: mode_t = 0) throws(FileFault) {
    var result: Int32
    repeat { result = open(path, flags | O_CLOEXEC, mode) } while result < 0 && errno == EINTR
    guard result >= 0 else { throw FileFault(purpose, path) }
    self.path = path
    descriptor = result
  }

  /// Takes over a descriptor, which may be of a pipe.
  init(descriptor: Int32, path: String) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func status() throws(FileFault) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFault("look at", path) }
    return status
  }

  /// Whether the file has no name any more.
  var isUnlinked: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  /// Takes the file for this process alone, without waiting; the kernel gives it back when the process dies.
  ///
  /// - Returns: Whether it is ours now. Where the file system knows no locks, this throws.
  func tryLock() throws(FileFault) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw FileFault("lock", path) }
      return false
    }
    return true
  }

  /// Reads from the start as many bytes as asked for, or fewer where the file ends before.
  func read(count: Int) throws(FileFault) -> [UInt8] {
    var fault: FileFault?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = pread(descriptor, rest.baseAddress, rest.count, filled)
        if got < 0, errno == EINTR { continue }
        if got < 0 { fault = FileFault("read", path) }
        guard got > 0 else { break }
        filled += got
      }
    }
    if let fault { throw fault }
    return bytes
  }

  /// Reads what comes next, also from a pipe; how many bytes, zero at the end.
  func readNext(into buffer: inout [UInt8]) throws(FileFault) -> Int {
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, waits(POLLIN) { continue }
      guard count >= 0 else { throw FileFault("read", path) }
      return count
    }
  }

  /// Whether a call was only too early, after waiting until it is not; for a descriptor that does not wait itself.
  private func waits(_ event: Int32) -> Bool {
    if errno == EINTR { return true }
    guard errno == EAGAIN else { return false }
    var ready = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    poll(&ready, 1, -1)
    return true
  }

  /// Writes all of the bytes where the last write ended.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FileFault) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, waits(POLLOUT) { continue }
      guard count >= 0 else { throw FileFault("write", path) }
      // No progress and no reason: a full device by POSIX; going on would never end.
      guard count > 0 else { throw FileFault("write", path, reason: ENOSPC) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  func write(_ bytes: [UInt8]) throws(FileFault) {
    var fault: FileFault?
    bytes.withUnsafeBytes { bytes in
      do throws(FileFault) { try write(bytes) } catch { fault = error }
    }
    if let fault { throw fault }
  }
}

/// A system call on a file that failed.
struct FileFault: Error, Hashable, CustomStringConvertible {
  /// What was tried, such as `read`; reads on after "cannot".
  var operation: String
  var path: String
  /// The system's number for the reason (errno).
  var reason: Int32

  /// Must be made before another call can overwrite the reason.
  init(_ operation: String, _ path: String, reason: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.reason = reason
  }

  /// Whether the disk, or what one may use of it, is full.
  var isDiskFull: Bool { [ENOSPC, EDQUOT].contains(reason) }

  var description: String { "cannot \(operation) `\(path)`: \(Self.words(for: reason))" }

  /// The system's words for a reason, as they read within a sentence.
  static func words(for reason: Int32) -> String {
    let words = String(cString: strerror(reason))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
