import FeedimgSystem
import Glibc

/// Notices that something in a few folders may have changed, on a thread that sleeps until then.
///
/// A folder that is not there is waited for in the nearest one above it that is.
final class FolderWatch: Sendable {
  private let folders: [String]
  private let tell: @Sendable () -> Void
  private let inotify: Int32
  private let wakeEnds: (read: Int32, write: Int32)

  /// Begins to watch; nil where the system grants no watch or no thread.
  ///
  /// - Parameters:
  ///   - folders: Absolute paths.
  ///   - tell: Called on the thread, at once and then after changes; several may be told as one.
  init?(_ folders: [String], tell: @escaping @Sendable () -> Void) {
    self.folders = folders
    self.tell = tell
    var ends: [Int32] = [-1, -1]
    inotify = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    let hasPipe = pipe(&ends) == 0
    for end in ends where hasPipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    wakeEnds = (ends[0], ends[1])
    guard inotify >= 0, hasPipe, SystemThread.start("feedimg-folders", { self.run() }) else { return nil }
  }

  deinit {
    for descriptor in [inotify, wakeEnds.read, wakeEnds.write] where descriptor >= 0 { close(descriptor) }
  }

  /// Has the thread end; harmless when repeated.
  func stop() {
    var byte: UInt8 = 1
    _ = write(wakeEnds.write, &byte, 1)
  }

  private func run() {
    while true {
      // Watching begins before the look, so that no change falls between them.
      for folder in folders { watch(folder) }
      tell()
      var sources = [
        pollfd(fd: wakeEnds.read, events: Int16(POLLIN), revents: 0),
        pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
      ]
      while poll(&sources, 2, -1) < 0, errno == EINTR {}
      if sources[0].revents != 0 { return }
      var block = [UInt8](repeating: 0, count: 4096)
      while read(inotify, &block, block.count) > 0 {}
    }
  }

  private func watch(_ folder: String) {
    let changes =
      UInt32(IN_CREATE) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
      | UInt32(IN_DELETE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
    var path = folder[...]
    while inotify_add_watch(inotify, path.isEmpty ? "/" : String(path), changes) < 0 {
      guard let slash = path.lastIndex(of: "/") else { return }
      path = path[..<slash]
    }
  }
}
