import Glibc

/// A small file that is replaced as a whole: readers see the old or the new content, never a mixture.
package struct AtomicFile: Sendable {
  /// The longest file to read, in bytes.
  package static let maximumLength = 1 << 20

  package let path: FilePath

  package init(_ path: String) { self.path = FilePath(path) }

  /// Whether nothing exists at the path, or only a symbolic link to a missing file.
  package var isMissing: Bool {
    var status = stat()
    return stat(path.text, &status) != 0 && errno == ENOENT
  }

  /// The content; nil if there is no file.
  ///
  /// - Throws: ``FileError``; its reason is `EISDIR` for a folder, `EFBIG` for a file that is too long, and
  ///   `EINVAL` for a pipe or device.
  package func content() throws(FileError) -> [UInt8]? {
    do throws(FileError) {
      // Opening a pipe would wait for its writer.
      let file = try OpenFile(path.text, to: "read", O_RDONLY | O_NONBLOCK)
      let type = try file.status().st_mode & S_IFMT
      guard type == S_IFREG else {
        throw FileError("read", path.text, reason: type == S_IFDIR ? EISDIR : EINVAL)
      }
      let bytes = try file.read(upTo: Self.maximumLength)
      guard bytes.count <= Self.maximumLength else { throw FileError("read", path.text, reason: EFBIG) }
      return bytes
    } catch {
      guard error.reason == ENOENT else { throw error }
      return nil
    }
  }

  /// Runs the body under a lock that excludes other writers; creates the folder if it is missing.
  ///
  /// The lock file is beside the target of all symbolic links, so that all paths to a file share one lock.
  ///
  /// - Parameters:
  ///   - limit: The longest wait for the lock.
  ///   - body: Replaces the file.
  /// - Returns: The result of the body.
  /// - Throws: ``FileError``, with `EWOULDBLOCK` after the longest wait.
  package func locked<Result>(
    within limit: Duration = .seconds(10),
    _ body: (borrowing LockedFile) throws(FileError) -> Result
  ) throws(FileError) -> Result {
    try FilePath.makeFolder(path.folder)
    let target = try path.links().last ?? path
    let path = FilePath(folder: target.folder, name: ".\(target.name).lock").text
    let lock = try FileLock(path, within: limit)
    return try body(LockedFile(target: target, lock: lock))
  }
}

/// A file that only this thread may replace.
package struct LockedFile: ~Copyable {
  /// The final target of all symbolic links.
  private let target: FilePath
  private let lock: FileLock

  fileprivate init(target: FilePath, lock: consuming FileLock) {
    self.target = target
    self.lock = lock
  }

  /// Replaces the content.
  ///
  /// The file keeps its mode and owner, unless `isPrivate`; a new file has mode 0600.
  ///
  /// - Parameters:
  ///   - bytes: The new content.
  ///   - isDurable: Whether to write it to disk before the call returns.
  ///   - isPrivate: Whether the file gets mode 0600 and this user as its owner, whatever the old file has.
  /// - Throws: ``FileError``; the file is then unchanged, except if only flushing its folder failed.
  package func replace(
    with bytes: [UInt8],
    isDurable: Bool = true,
    isPrivate: Bool = false
  ) throws(FileError) {
    let temporary = FilePath(folder: target.folder, name: ".\(target.name).tmp").text
    // A process that died while it held the lock may have left a temporary file.
    unlink(temporary)
    do throws(FileError) {
      let file = try OpenFile(temporary, to: "write", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try file.write(bytes)
      var old = stat()
      if !isPrivate, stat(target.text, &old) == 0 {
        // Only the superuser may change the owner. For other users, the call fails or changes nothing.
        _ = fchown(file.descriptor, old.st_uid, old.st_gid)
        guard fchmod(file.descriptor, old.st_mode & 0o7777) == 0 else { throw FileError("change", temporary) }
      }
      if isDurable { try file.synchronize() }
      guard rename(temporary, target.text) == 0 else { throw FileError("replace", target.text) }
    } catch {
      unlink(temporary)
      throw error
    }
    guard isDurable else { return }
    try OpenFile(target.folder, to: "flush", O_RDONLY | O_DIRECTORY).synchronize()
  }
}
