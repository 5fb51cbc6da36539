import Glibc

/// A lock between all processes and threads, held as long as the value lives (flock(2)).
///
/// The kernel releases the lock when the process dies. The lock file is never removed: otherwise, two
/// processes could hold the lock at once.
package struct FileLock: ~Copyable {
  package enum Share: Sendable {
    case shared
    case exclusive
  }

  private let file: OpenFile

  /// Waits for the lock; creates the lock file if it is missing.
  ///
  /// Work under a lock takes milliseconds; a long wait means that a process is stopped.
  ///
  /// - Throws: ``FileError``, with `EWOULDBLOCK` after the longest wait.
  package init(
    _ path: String,
    _ share: Share = .exclusive,
    within limit: Duration = .seconds(10)
  ) throws(FileError) {
    let opened = try OpenFile(path, to: "lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    try Self.lock(opened, share, within: limit)
    file = opened
  }

  private static func lock(
    _ file: borrowing OpenFile,
    _ share: Share,
    within limit: Duration
  ) throws(FileError) {
    for _ in 0...Int(limit / .milliseconds(5)) {
      if try file.tryLock(share) { return }
      poll(nil, 0, 5)
    }
    throw FileError("lock", file.path, reason: EWOULDBLOCK)
  }
}
