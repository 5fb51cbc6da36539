import Glibc

/// The files in which the kernel tells about itself, below a root that tests replace.
package struct SystemFiles: Sendable, Hashable {
  /// Put before every path; empty for the live system.
  var root = ""

  /// The longest file that is of use, in bytes.
  private static let limit = 1 << 20

  /// The live system.
  package init() {}

  init(root: String) { self.root = root }

  func path(_ path: String) -> String { root + path }

  /// The text of a small file; nil where it cannot be read.
  func read(_ path: String) -> String? {
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

  /// A path in a table of mounts, where white space and backslashes stand as three octal digits behind a backslash.
  package static func unescaped(_ field: Substring) -> String {
    var text = field.replacing("\\040", with: " ")
    text = text.replacing("\\011", with: "\t")
    text = text.replacing("\\012", with: "\n")
    return String(text.replacing("\\134", with: "\\"))
  }

  /// A number on a line of its own; nil for anything else, such as `max`.
  func readNumber(_ path: String) -> Int? {
    read(path).flatMap { Int($0.prefix { $0 != "\n" }) }
  }
}
