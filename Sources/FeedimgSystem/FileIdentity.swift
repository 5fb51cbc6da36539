import Glibc

/// Tells a file apart from others that get its path.
package struct FileIdentity: Sendable, Hashable {
  private let device: UInt
  private let inode: UInt

  /// The identity of the file at a path; nil if there is none.
  ///
  /// - Throws: ``FileError`` if the path cannot be examined, or with `EISDIR` for a folder.
  package init?(_ path: String) throws(FileError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw FileError("look at", path) }
      return nil
    }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw FileError("read", path, reason: EISDIR) }
    (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
  }
}
