import Glibc

/// The file that an archive is written to: it gets its name when it is whole, in place of an earlier one.
///
/// Until then it has none, so that a kill leaves nothing behind; on file systems that cannot do that, it has the name
/// with `.part`. What is no plain file, such as a pipe, is written to as it is.
struct ArchiveFile: ~Copyable {
  private let file: OpenFile
  /// What it is to be called; nil where it has its name already.
  private let target: String?
  private let part: String
  /// Whether the part has a name now.
  private var isNamed: Bool

  /// - Parameter path: A file, which need not be there.
  /// - Throws: ``FileFault`` where nothing can be written there; an earlier file is as it was.
  init(_ path: String) throws(FileFault) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let isSpecial = isThere && status.st_mode & S_IFMT != S_IFREG
    // A link stays one: what it leads to is replaced.
    let target = isThere ? Self.resolved(path) ?? path : path
    let part = "\(target).\(getpid()).part"
    let opened = try Self.open(target, part: part, isSpecial: isSpecial)
    self.target = isSpecial ? nil : target
    self.part = part
    isNamed = opened.isNamed
    file = OpenFile(descriptor: opened.descriptor, path: target)
  }

  /// Takes over a descriptor, such as that of standard output.
  init(descriptor: Int32, path: String) {
    file = OpenFile(descriptor: descriptor, path: path)
    target = nil
    part = ""
    isNamed = false
  }

  private static func open(
    _ target: String,
    part: String,
    isSpecial: Bool
  ) throws(FileFault) -> (descriptor: Int32, isNamed: Bool) {
    if isSpecial { return (try open(target, O_WRONLY | O_NOCTTY), false) }
    do throws(FileFault) {
      return (try open(folder(of: target), O_WRONLY | withoutName), false)
    } catch {
      guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.reason) else { throw error }
      return (try open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW), true)
    }
  }

  private static func open(_ path: String, _ flags: Int32) throws(FileFault) -> Int32 {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault("write", path) }
    return descriptor
  }

  deinit { if isNamed { unlink(part) } }

  func write(_ bytes: [UInt8]) throws(FileFault) { try file.write(bytes) }

  /// Waits until the file is on the disk, then gives it its name.
  mutating func finish() throws(FileFault) {
    guard let target else { return }
    guard fsync(file.descriptor) == 0 else { throw FileFault("write", target) }
    if !isNamed {
      let link = "/proc/self/fd/\(file.descriptor)"
      guard linkat(AT_FDCWD, link, AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0 else {
        throw FileFault("write", target)
      }
      isNamed = true
    }
    guard rename(part, target) == 0 else { throw FileFault("write", target) }
    isNamed = false
  }

  /// O_TMPFILE, whose macro the importer leaves out (Linux, asm-generic/fcntl.h).
  private static let withoutName = 0o20_000_000 | O_DIRECTORY

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func resolved(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
