import Glibc

/// The kernel's files about the system and the process, below a root that tests replace.
package struct SystemFiles: Sendable, Hashable {
  /// A prefix for every path; empty for the live system.
  package var root: String

  /// The longest text that is read, in bytes.
  private static let limit = 1 << 20

  package init(root: String = "") { self.root = root }

  package func path(_ path: String) -> String { root + path }

  /// Returns the text of a small file; nil if it cannot be read.
  ///
  /// `OpenFile` would repeat the call while a driver is not ready (`EAGAIN`), and files of sysfs do not wait.
  package func read(_ path: String) -> String? {
    let descriptor = open(self.path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while content.count < Self.limit {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      content += chunk[..<count]
    }
    return String(decoding: content, as: UTF8.self)
  }

  package func exists(_ path: String) -> Bool { access(self.path(path), F_OK) == 0 }

  /// The names in a folder, in no order; empty if it cannot be read.
  package func names(in folder: String) -> [String] { (try? FilePath.names(in: path(folder))) ?? [] }

  /// Decodes a path in a table of mounts.
  ///
  /// White space and backslashes are encoded as a backslash with three octal digits.
  package static func unescaped(_ field: Substring) -> String {
    var text = field.replacing("\\040", with: " ")
    text = text.replacing("\\011", with: "\t")
    text = text.replacing("\\012", with: "\n")
    return String(text.replacing("\\134", with: "\\"))
  }

  /// Returns the number on the first line; nil for anything else, such as `max`.
  package func readNumber(_ path: String) -> Int? {
    read(path).flatMap { Int($0.prefix { $0 != "\n" }) }
  }
}
