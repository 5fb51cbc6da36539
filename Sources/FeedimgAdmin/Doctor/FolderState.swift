import Feedimg
import FeedimgSystem
import Glibc

/// The state of a folder, read without changing anything.
struct FolderState {
  let path: String
  let exists: Bool
  /// The reason why the folder can be neither written nor created; nil if it can.
  let obstacle: String?
  /// The type of the file system, such as `ext4`; nil if unknown.
  let fileSystem: String?
  /// Whether the folder is on a network file system.
  var isShared: Bool { fileSystem.map(Self.shared.contains) ?? false }

  /// Reads the state of a folder or, if it is missing, of the nearest existing folder above it.
  init(_ path: String) {
    self.path = path
    var nearest = path
    while access(nearest, F_OK) != 0, errno == ENOENT, nearest.count > 1 {
      nearest = FilePath(nearest).folder
    }
    exists = nearest == path && Self.isFolder(nearest)
    obstacle = Self.obstacle(to: nearest)
    fileSystem = MountTable.fileSystem(of: nearest)
  }

  /// Whether a path leads to a regular file of this size, in bytes.
  static func isFile(_ path: String, ofSize size: Int) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == size
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func obstacle(to path: String) -> String? {
    guard access(path, F_OK) == 0 else { return FileError.words(for: errno) }
    guard isFolder(path) else { return "not a folder" }
    return access(path, W_OK | X_OK) == 0 ? nil : FileError.words(for: errno)
  }

  private static let shared: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs", "fuse.sshfs", "fuse.glusterfs",
  ]
}

/// The file systems of this process, as `/proc/self/mounts` lists them (proc(5)).
enum MountTable {
  /// The type of the file system of a path, such as `ext4`; nil if unknown.
  static func fileSystem(of path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    let table = try? OpenFile("/proc/self/mounts", to: "read", O_RDONLY).read(upTo: 1 << 24)
    return fileSystem(of: String(cString: resolved), in: String(decoding: table ?? [], as: UTF8.self))
  }

  /// The type of the file system of a path: that of the innermost mount, or of the last of several at one
  /// place.
  static func fileSystem(of path: String, in table: String) -> String? {
    var best: (length: Int, type: String)?
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2 else { continue }
      let point = SystemFiles.unescaped(fields[1])
      guard point == "/" || path == point || path.hasPrefix(point + "/") else { continue }
      if point.utf8.count >= best?.length ?? 0 { best = (point.utf8.count, String(fields[2])) }
    }
    return best?.type
  }
}
