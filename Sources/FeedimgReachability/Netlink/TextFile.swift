import FeedimgSystem
import Glibc

/// Reads the small files of sysfs and procfs.
enum TextFile {
  /// The start of a file, of at most `limit` bytes; nil if it cannot be read.
  static func read(_ path: String, limit: Int = 4096) -> String? {
    guard let file = try? OpenFile(path, to: "read", O_RDONLY), let bytes = try? file.read(count: limit)
    else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The names in a folder; empty if it cannot be read.
  static func names(in folder: String) -> [String] { (try? FilePath.names(in: folder)) ?? [] }
}
