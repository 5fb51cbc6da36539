import FeedimgSystem
package import Glibc

/// A folder for one test, removed with its content when the test ends.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    var template = Array("/tmp/feedimg-test-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } }
    guard made != nil else { throw FileError("make", "/tmp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.removeTree(path) }

  package subscript(name: String) -> String { "\(path)/\(name)" }

  /// Writes as `cat >` does: in place, in several steps.
  package func write(_ text: String, to name: String) throws {
    let file = try OpenFile(self[name], to: "write", O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    try file.write(Array(text.utf8))
  }

  /// The content of a file.
  ///
  /// Nil if there is none.
  package func text(of name: String) throws -> String? {
    try AtomicFile(self[name]).content().map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names of all entries in the folder, sorted.
  package var names: [String] { Self.names(in: path) }

  private static func removeTree(_ path: String) {
    // A link to a folder is removed as a link.
    if unlink(path) == 0 { return }
    for name in names(in: path) { removeTree("\(path)/\(name)") }
    rmdir(path)
  }

  private static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  package func mode(of name: String) -> mode_t? {
    var status = stat()
    return stat(self[name], &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}
