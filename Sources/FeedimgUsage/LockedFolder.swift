import Glibc

/// An open folder under an exclusive lock, which ends with this value.
struct LockedFolder: ~Copyable {
  private let descriptor: Int32

  /// - Parameters:
  ///   - path: The folder.
  ///   - busyTimeout: How long to wait for the lock, in milliseconds; a stopped process may hold it.
  /// - Throws: ``UsageFault``, busy if another process keeps the lock.
  init(_ path: String, within busyTimeout: Int32) throws(UsageFault) {
    let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw UsageFault("read", path) }
    do throws(UsageFault) {
      try Self.lock(opened, path, within: busyTimeout)
    } catch {
      close(opened)
      throw error
    }
    descriptor = opened
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

  /// Whether the path still leads to this folder.
  func isNamed(_ path: String) -> Bool {
    var (named, opened) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino
      && named.st_dev == opened.st_dev
  }
}
