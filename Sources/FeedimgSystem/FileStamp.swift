import Glibc

/// The version of a file; comparing versions shows a change without reading the file.
package enum FileStamp: Sendable, Hashable {
  case missing
  /// The system does not report whether the file exists; the value is its `errno`.
  case hidden(Int32)
  /// Not a regular file, but a pipe, a device or a folder.
  case special
  case file(Mark)

  /// The identity of a version: a replacement has another inode, and a change another time.
  package struct Mark: Sendable, Hashable {
    let device: UInt
    let inode: UInt
    let size: Int
    /// The last change of content, name or mode (ctime), in seconds since 1970; programs cannot set it.
    let changed: Double
  }

  package init(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      self = errno == ENOENT || errno == ENOTDIR ? .missing : .hidden(errno)
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      self = .special
      return
    }
    self = .file(
      Mark(
        device: UInt(status.st_dev),
        inode: UInt(status.st_ino),
        size: status.st_size,
        changed: Double(status.st_ctim.tv_sec) + Double(status.st_ctim.tv_nsec) / 1e9
      )
    )
  }

  /// A time in seconds within which two changes may get the same stamp.
  ///
  /// The kernel rounds file times to ticks of up to 10 ms (`CONFIG_HZ=100`).
  private static let tick = 0.1

  /// Whether every change after `now`, in seconds since 1970, would yield another stamp.
  package func isSettled(at now: Double) -> Bool {
    guard case .file(let mark) = self else { return true }
    return mark.changed < now - Self.tick
  }
}
