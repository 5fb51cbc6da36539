import Glibc

/// The sole right to replace a file, among all processes and threads, for as long as the value lives.
///
/// The kernel gives it back when the process dies. The lock file stays: removing it would let two hold "the" lock.
struct FileLock: ~Copyable {
  /// How long another may hold it: a replacement takes milliseconds, so longer means that its process is stopped.
  private static let patience = (tries: 1000, milliseconds: Int32(10))

  private let file: OpenFile

  /// Waits for the lock, ten seconds at most.
  ///
  /// - Throws: ``FileFault``, with `EWOULDBLOCK` when another did not give it back.
  init(_ path: String) throws(FileFault) {
    let opened = try OpenFile(path, to: "lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    try Self.lock(opened)
    file = opened
  }

  private static func lock(_ file: borrowing OpenFile) throws(FileFault) {
    for _ in 0..<patience.tries {
      if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw FileFault("lock", file.path) }
      poll(nil, 0, patience.milliseconds)
    }
    throw FileFault("lock", file.path, reason: EWOULDBLOCK)
  }
}
