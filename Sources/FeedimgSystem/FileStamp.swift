import Glibc

/// The version of a file, which tells without reading it whether it changed.
package enum FileStamp: Sendable, Hashable {
  case missing
  /// The system does not tell whether there is a file; with its reason.
  case hidden(Int32)
  /// A pipe, a device or a folder, which cannot be read twice.
  case special
  case file(Mark)

  /// One version of a file: a replacement has another inode, and a change another time.
  package struct Mark: Sendable, Hashable {
    let device: UInt
    let inode: UInt
    let size: Int
    /// When content, name or rights changed last, in seconds since 1970; no program can set it back.
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

  /// In seconds; the second of two changes within this time may not show.
  ///
  /// The kernel counts times of files in ticks of up to 10 ms (`CONFIG_HZ=100`).
  private static let tick = 0.1

  /// Whether a later change would show, at a time in seconds since 1970.
  package func isSettled(at now: Double) -> Bool {
    guard case .file(let mark) = self else { return true }
    return mark.changed < now - Self.tick
  }
}
