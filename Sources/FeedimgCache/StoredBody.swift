import Glibc

/// What is found where a record says that its body is.
enum StoredBody {
  case whole([UInt8])
  /// There is none, or it is not what was stored.
  case wrong
  /// It cannot be told now, for want of descriptors or rights, or because the disk fails.
  case unreadable(FileFault)

  /// Reads the body and compares its length and checksum.
  static func read(_ record: EntryRecord, path: String) -> StoredBody {
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == record.size else { return .wrong }
      let bytes = try file.read(count: record.size)
      return Checksum.of(bytes) == record.checksum && bytes.count == record.size ? .whole(bytes) : .wrong
    } catch {
      let isGone = [ENOENT, ENOTDIR, ELOOP, EISDIR].contains(error.reason)
      return isGone ? .wrong : .unreadable(error)
    }
  }
}
