import Glibc

/// A small file that readers see whole, before or after a replacement but never in between.
struct AtomicFile {
  /// Longer files are not read; in bytes.
  static let greatestLength = 1 << 20

  let path: FilePath

  /// Whether there is neither a file nor a link that leads to one.
  var isMissing: Bool {
    var status = stat()
    return stat(path.text, &status) != 0 && errno == ENOENT
  }

  /// The content; nil where there is no file.
  ///
  /// - Throws: ``FileFault``, with `EISDIR` or `EFBIG` for what is no file or too long.
  func content() throws(FileFault) -> [UInt8]? {
    do throws(FileFault) {
      // Without waiting, as opening a pipe would.
      let file = try OpenFile(path.text, to: "read", O_RDONLY | O_NONBLOCK)
      let type = try file.status().st_mode & S_IFMT
      guard type == S_IFREG else {
        throw FileFault("read", path.text, reason: type == S_IFDIR ? EISDIR : EINVAL)
      }
      let bytes = try file.read(upTo: Self.greatestLength)
      guard bytes.count <= Self.greatestLength else { throw FileFault("read", path.text, reason: EFBIG) }
      return bytes
    } catch {
      guard error.reason == ENOENT else { throw error }
      return nil
    }
  }

  /// Runs the body while nobody else replaces the file; its folder is made where it is missing.
  ///
  /// The lock stands beside the file that symbolic links lead to, so that it is the same by every path.
  func locked<Answer>(
    _ body: (borrowing LockedFile) throws(FileFault) -> Answer
  ) throws(FileFault) -> Answer {
    try FilePath.makeFolder(path.folder)
    let target = try path.links().last ?? path
    let lock = try FileLock(FilePath(folder: target.folder, name: ".\(target.name).lock").text)
    return try body(LockedFile(target: target, lock: lock))
  }
}

/// A file that only this thread may replace for now.
struct LockedFile: ~Copyable {
  /// No link.
  let target: FilePath
  let lock: FileLock

  /// Puts the bytes in place of the content, on the disk when this returns.
  ///
  /// Mode and owner stay; a new file is for the user alone.
  ///
  /// - Throws: ``FileFault``; the file is then as before.
  func replace(with bytes: [UInt8]) throws(FileFault) {
    let temporary = FilePath(folder: target.folder, name: ".\(target.name).tmp").text
    // Under the lock, one that is there was left by a process that died.
    unlink(temporary)
    do throws(FileFault) {
      let file = try OpenFile(temporary, to: "write", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try file.write(bytes)
      var old = stat()
      if stat(target.text, &old) == 0 {
        // Only the superuser may give files away; for others the owner is the same.
        _ = fchown(file.descriptor, old.st_uid, old.st_gid)
        guard fchmod(file.descriptor, old.st_mode & 0o7777) == 0 else { throw FileFault("change", temporary) }
      }
      try file.synchronize()
      guard rename(temporary, target.text) == 0 else { throw FileFault("replace", target.text) }
    } catch {
      unlink(temporary)
      throw error
    }
    try OpenFile(target.folder, to: "flush", O_RDONLY | O_DIRECTORY).synchronize()
  }
}
