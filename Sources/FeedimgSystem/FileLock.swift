import Glibc

/// A lock among all processes and threads, held as long as the value lives (flock(2)).
///
/// The kernel releases it when the process dies. The lock file stays: after a removal, two processes could hold the lock.
package struct FileLock: ~Copyable {
  package enum Share: Sendable {
    case shared
    case exclusive
  }

  private let file: OpenFile

  /// Waits for the lock.
  ///
  /// - Parameters:
  ///   - path: The lock file, which is made where it is missing.
  ///   - share: Whether others may hold it as `shared`.
  ///   - limit: The longest wait. Work under a lock takes milliseconds, so that a longer wait means a stopped process.
  /// - Throws: ``FileFault``, with `EWOULDBLOCK` when the time ends.
  package init(
    _ path: String,
    _ share: Share = .exclusive,
    within limit: Duration = .seconds(10)
  ) throws(FileFault) {
    let opened = try OpenFile(path, to: "lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    try Self.lock(opened, share, within: limit)
    file = opened
  }

  private static func lock(
    _ file: borrowing OpenFile,
    _ share: Share,
    within limit: Duration
  ) throws(FileFault) {
    for _ in 0...Int(limit / .milliseconds(5)) {
      if try file.tryLock(share) { return }
      poll(nil, 0, 5)
    }
    throw FileFault("lock", file.path, reason: EWOULDBLOCK)
  }
}
