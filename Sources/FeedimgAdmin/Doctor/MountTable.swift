import Glibc

/// The file systems of this process, as `/proc/self/mounts` lists them (proc(5)).
enum MountTable {
  /// The kind of file system that a path is on, such as `ext4`; nil where that cannot be told.
  static func fileSystem(of path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    guard let file = fopen("/proc/self/mounts", "re") else { return nil }
    defer { fclose(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 14)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { content += chunk[..<count] }
    return fileSystem(of: String(cString: resolved), in: String(decoding: content, as: UTF8.self))
  }

  /// The kind of file system that a path is on, by the mount nearest above it; of several there the last.
  static func fileSystem(of path: String, in table: String) -> String? {
    var best: (length: Int, type: String)?
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2 else { continue }
      let point = unescaped(fields[1])
      guard point == "/" || path == point || path.hasPrefix(point + "/") else { continue }
      if point.utf8.count >= best?.length ?? 0 { best = (point.utf8.count, String(fields[2])) }
    }
    return best?.type
  }

  /// White space and backslashes stand there as three octal digits behind a backslash.
  static func unescaped(_ field: Substring) -> String {
    var text = field.replacing("\\040", with: " ")
    text = text.replacing("\\011", with: "\t")
    text = text.replacing("\\012", with: "\n")
    return String(text.replacing("\\134", with: "\\"))
  }
}
