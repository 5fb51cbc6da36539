import FeedimgSystem
import Glibc

/// The kernel's files about the system and the process, below a root that tests replace.
package struct SystemFiles: Sendable, Hashable {
  /// A prefix for every path; empty for the live system.
  var root = ""

  /// The longest text that is read, in bytes.
  private static let limit = 1 << 20

  /// Makes the files of the live system.
  package init() {}

  init(root: String) { self.root = root }

  func path(_ path: String) -> String { root + path }

  /// Returns the text of a small file; nil if it cannot be read.
  func read(_ path: String) -> String? {
    let content = try? OpenFile(self.path(path), to: "read", O_RDONLY | O_NONBLOCK).read(upTo: Self.limit)
    return content.map { String(decoding: $0, as: UTF8.self) }
  }

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
  func readNumber(_ path: String) -> Int? {
    read(path).flatMap { Int($0.prefix { $0 != "\n" }) }
  }
}
