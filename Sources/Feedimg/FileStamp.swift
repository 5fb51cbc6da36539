import Glibc

/// What tells, without reading a file, whether it has changed.
enum FileStamp: Sendable, Hashable {
  case missing
  /// The system does not even tell whether there is one; with its reason.
  case hidden(Int32)
  /// A pipe, a device or a folder: nothing that can be read again.
  case special
  case file(Mark)

  /// One version of a file: another one in its place has another number, and a change in it another time.
  struct Mark: Sendable, Hashable {
    let device: UInt
    let number: UInt
    let size: Int
    /// When content, name or rights changed last, in seconds since 1970; nobody can set it back.
    let changed: Double
  }

  init(path: String) {
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
        number: UInt(status.st_ino),
        size: status.st_size,
        changed: Double(status.st_ctim.tv_sec) + Double(status.st_ctim.tv_nsec) / 1e9
      )
    )
  }

  /// Of two changes within so many seconds the second might not show.
  ///
  /// The kernel counts the times of files in ticks of up to 10 ms (`CONFIG_HZ=100`); this leaves room to spare.
  private static let tick = 0.1

  /// Whether a later change would show, at a time in seconds since 1970.
  func isSettled(at now: Double) -> Bool {
    guard case .file(let mark) = self else { return true }
    return mark.changed < now - Self.tick
  }
}
