import Glibc

/// The files in which the kernel tells about itself, below a root that tests replace.
struct SystemFiles: Sendable, Hashable {
  /// Put before every path; empty for the live system.
  var root = ""

  /// The longest file that is of use, in bytes.
  private static let limit = 1 << 20

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

  /// A number on a line of its own; nil for anything else, such as `max`.
  func readNumber(_ path: String) -> Int? {
    read(path).flatMap { Int($0.prefix { $0 != "\n" }) }
  }
}
