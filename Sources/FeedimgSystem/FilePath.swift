import Glibc

/// The path of a file; only slashes have a meaning.
package struct FilePath: Hashable {
  /// The most consecutive symbolic links that the kernel follows (`MAXSYMLINKS`).
  private static let maximumLinkCount = 40

  package var text: String

  package init(_ text: String) { self.text = text }

  package init(folder: String, name: String) {
    text = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// The folder of the file; `.` for a bare name, `/` for the root itself.
  package var folder: String {
    let trimmed = text.lastIndex { $0 != "/" }.map { text[...$0] } ?? ""
    guard let slash = trimmed.lastIndex(of: "/") else { return text.hasPrefix("/") ? "/" : "." }
    let end = trimmed[..<slash].lastIndex { $0 != "/" }
    return end.map { String(trimmed[...$0]) } ?? "/"
  }

  package var name: String { text.split(separator: "/").last.map(String.init) ?? text }

  /// This path and the targets of its symbolic links, in order; the last is not a link and may be missing.
  ///
  /// - Throws: ``FileError`` with `ELOOP` if there are too many links, as in a cycle.
  package func links() throws(FileError) -> [FilePath] {
    var chain = [self]
    while let next = chain.last?.linkTarget {
      guard chain.count <= Self.maximumLinkCount else { throw FileError("follow", text, reason: ELOOP) }
      chain.append(next)
    }
    return chain
  }

  private var linkTarget: FilePath? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(text, &buffer, buffer.count)
    guard count > 0 else { return nil }
    let target = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return target.hasPrefix("/") ? FilePath(target) : FilePath(folder: folder, name: target)
  }

  /// The names in a folder, in no order.
  package static func names(in folder: String) throws(FileError) -> [String] {
    guard let stream = opendir(folder) else { throw FileError("list", folder) }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw FileError("list", folder) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// Creates the folder and all missing folders above it, with mode 0700 as XDG requires.
  package static func makeFolder(_ folder: String) throws(FileError) {
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, FilePath(folder).folder != folder else { throw FileError("make", folder) }
    try makeFolder(FilePath(folder).folder)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileError("make", folder) }
  }
}
