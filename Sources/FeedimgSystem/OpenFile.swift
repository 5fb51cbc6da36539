package import Glibc

/// An open file that closes itself.
package struct OpenFile: ~Copyable {
  package let path: String
  package let descriptor: Int32

  /// Opens a file with the flags of open(2) and `O_CLOEXEC`.
  ///
  /// Error messages name the path and the purpose, such as `read`; they put "cannot" before it.
  package init(_ path: String, to purpose: String, _ flags: Int32, mode: mode_t = 0) throws(FileError) {
    var result: Int32
    repeat { result = open(path, flags | O_CLOEXEC, mode) } while result < 0 && errno == EINTR
    guard result >= 0 else { throw FileError(purpose, path) }
    self.path = path
    descriptor = result
  }

  /// Takes ownership of a descriptor, for example of a pipe.
  package init(descriptor: Int32, path: String) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  package func status() throws(FileError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError("inspect", path) }
    return status
  }

  /// Whether the file has been removed from its folder.
  package var isUnlinked: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  // MARK: Reading

  /// Reads from a position; returns fewer bytes than `count` if the file is shorter.
  package func read(count: Int, from position: Int = 0) throws(FileError) -> [UInt8] {
    var fault: FileError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = pread(descriptor, rest.baseAddress, rest.count, position + filled)
        if got < 0, errno == EINTR { continue }
        if got < 0 { fault = FileError("read", path) }
        guard got > 0 else { break }
        filled += got
      }
    }
    if let fault { throw fault }
    return bytes
  }

  /// Reads to the end of the file or pipe, but stops soon after more than `limit` bytes.
  package func read(upTo limit: Int) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
      let count = block.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, Self.shouldRetry(POLLIN, descriptor) { continue }
      guard count >= 0 else { throw FileError("read", path) }
      if count == 0 { break }
      bytes.append(contentsOf: block[..<count])
    }
    return bytes
  }

  // MARK: Writing

  /// Writes all bytes at the current position.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
    try Self.write(bytes, to: descriptor, path: path)
  }

  package func write(_ bytes: [UInt8]) throws(FileError) {
    try Self.write(bytes, to: descriptor, path: path)
  }

  /// Writes all bytes to a descriptor, which stays open; errors name the path.
  package static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(FileError) {
    try bytes.withUnsafeBufferPointer { bytes throws(FileError) in
      try write(UnsafeRawBufferPointer(bytes), to: descriptor, path: path)
    }
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer,
    to descriptor: Int32,
    path: String
  ) throws(FileError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, shouldRetry(POLLOUT, descriptor) { continue }
      guard count >= 0 else { throw FileError("write", path) }
      // POSIX lets a full device write nothing without an error.
      guard count > 0 else { throw FileError("write", path, reason: ENOSPC) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Waits until all written bytes are on the disk.
  package func synchronize() throws(FileError) {
    // EINVAL: the file system does not support the call.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw FileError("flush", path) }
  }

  /// Whether to repeat a failed call; first waits until a non-blocking descriptor is ready.
  private static func shouldRetry(_ event: Int32, _ descriptor: Int32) -> Bool {
    if errno == EINTR { return true }
    guard errno == EAGAIN else { return false }
    var ready = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    poll(&ready, 1, -1)
    return true
  }

  // MARK: Locks

  /// Locks the file without waiting; the kernel unlocks it when the process dies.
  ///
  /// - Returns: False if another process holds the lock.
  package func tryLock(_ share: FileLock.Share = .exclusive) throws(FileError) -> Bool {
    while flock(descriptor, (share == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw FileError("lock", path) }
      return false
    }
    return true
  }
}
