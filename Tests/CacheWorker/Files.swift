import Glibc

/// Changes that a trial makes to the folder of a cache from outside.
enum Files {
  static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  static func remove(_ path: String) {
    guard unlink(path) != 0 else { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }

  /// Copies a file, or a folder with its content.
  static func copy(_ path: String, to copy: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      mkdir(copy, 0o700)
      for name in names(in: path) { self.copy("\(path)/\(name)", to: "\(copy)/\(name)") }
      return
    }
    let (source, target) = (open(path, O_RDONLY), open(copy, O_WRONLY | O_CREAT | O_EXCL, 0o600))
    sendfile(target, source, nil, Int(status.st_size))
    close(source)
    close(target)
  }

  /// Fills the disk except for this many bytes.
  static func fill(_ path: String, leaving room: Int) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(file) }
    let page = [UInt8](repeating: 1, count: 4096)
    var length = 0
    while case let count = write(file, page, page.count), count > 0 { length += count }
    ftruncate(file, max(0, length - room))
  }

  /// The paths of the bodies of a cache.
  static func bodies(in folder: String) -> Set<String> {
    var paths: Set<String> = []
    for shard in names(in: folder + "/bodies") {
      let path = "\(folder)/bodies/\(shard)"
      for name in names(in: path) where !name.hasPrefix("catalog") { paths.insert("\(path)/\(name)") }
    }
    return paths
  }
}
