import Glibc

/// The right to open the index, shared with others, or to make and replace it, alone.
///
/// SQLite finds the files beside the index by their names. While an index is being replaced these names lead to the
/// old one's, so nobody may open it then. The kernel gives the lock back when the process dies.
struct FolderLock: ~Copyable {
  enum Share: Int32 {
    case shared
    case alone
  }

  /// Making or replacing takes milliseconds; whoever holds the lock for longer is stopped.
  private static let patience = (tries: 400, milliseconds: Int32(5))

  private let file: OpenFile

  /// Waits for the lock, two seconds at most.
  ///
  /// - Throws: ``FileFault``, with `EWOULDBLOCK` when another did not give it back.
  init(_ folder: CacheFolder, _ share: Share) throws(FileFault) {
    let opened = try OpenFile(folder.lock, to: "lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    try Self.lock(opened, share == .alone ? LOCK_EX : LOCK_SH)
    file = opened
  }

  /// Runs the body with the lock held.
  borrowing func hold<Answer>(
    _ body: () throws(IndexFault) -> Answer
  ) throws(IndexFault) -> Answer {
    try body()
  }

  private static func lock(_ file: borrowing OpenFile, _ operation: Int32) throws(FileFault) {
    for _ in 0..<patience.tries {
      if flock(file.descriptor, operation | LOCK_NB) == 0 { return }
      // Without locks (some network file systems), SQLite itself cannot be shared either.
      guard errno == EWOULDBLOCK || errno == EINTR else { throw FileFault("lock", file.path) }
      poll(nil, 0, patience.milliseconds)
    }
    throw FileFault("lock", file.path, reason: EWOULDBLOCK)
  }
}
