import Glibc

/// A folder as it is found, without changing anything.
struct FolderState {
  let path: String
  let exists: Bool
  /// Why it can be neither written nor made, in words; nil where it can.
  let obstacle: String?
  /// Such as `ext4`; nil for one of no known name.
  let fileSystem: String?
  /// Whether other computers may use it too.
  let isShared: Bool

  /// Looks at a folder, or at the nearest one above it that is there.
  init(_ path: String) {
    self.path = path
    var nearest = path
    while access(nearest, F_OK) != 0, errno == ENOENT, nearest.count > 1 {
      nearest = nearest.lastIndex(of: "/").map { String(nearest[..<$0]) } ?? "."
      if nearest.isEmpty { nearest = "/" }
    }
    exists = nearest == path
    obstacle = Self.obstacle(to: nearest)
    fileSystem = MountTable.fileSystem(of: nearest)
    isShared = fileSystem.map(Self.shared.contains) ?? false
  }

  private static func obstacle(to path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, access(path, W_OK | X_OK) == 0 else {
      let words = String(cString: strerror(errno))
      return words.prefix(1).lowercased() + words.dropFirst()
    }
    return status.st_mode & S_IFMT == S_IFDIR ? nil : "not a folder"
  }

  private static let shared: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs", "fuse.sshfs", "fuse.glusterfs",
  ]
}
