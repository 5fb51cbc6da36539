import Glibc

/// An open file or folder under an exclusive lock, which ends with this value.
struct LockedFile: ~Copyable {
  let descriptor: Int32

  /// Opens without waiting for a pipe, and waits for the lock.
  ///
  /// - Parameters:
  ///   - path: The file or folder.
  ///   - busyTimeout: How long to wait for the lock, in milliseconds; a stopped process may hold it.
  ///   - type: `S_IFREG` or `S_IFDIR`.
  /// - Throws: ``UsageFault``, busy if another process keeps the lock.
  init(_ path: String, within busyTimeout: Int32, type: mode_t = S_IFREG) throws(UsageFault) {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard opened >= 0 else { throw UsageFault("read", path) }
    do throws(UsageFault) {
      try Self.check(opened, path, type)
      try Self.lock(opened, path, within: busyTimeout)
    } catch {
      close(opened)
      throw error
    }
    descriptor = opened
  }

  private static func check(_ descriptor: Int32, _ path: String, _ type: mode_t) throws(UsageFault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw UsageFault("look at", path) }
    let found = status.st_mode & S_IFMT
    guard found == type else {
      throw UsageFault("use", path, reason: found == S_IFDIR ? EISDIR : EINVAL)
    }
  }

  private static func lock(_ descriptor: Int32, _ path: String, within busyTimeout: Int32) throws(UsageFault)
  {
    for attempt in 0... {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR, attempt < busyTimeout else {
        throw UsageFault("lock", path)
      }
      poll(nil, 0, 1)
    }
  }

  deinit { close(descriptor) }

  /// Whether the path still leads to this file.
  func isNamed(_ path: String) -> Bool {
    var (named, opened) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino
      && named.st_dev == opened.st_dev
  }
}
