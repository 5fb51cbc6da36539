import FeedimgModel
import Glibc

/// A folder for bodies.
final class KeptFolder: Sendable {
  let descriptor: Int32

  init(path: String) throws(LoadError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LoadError(.unavailable, message: "`\(path)` cannot be opened") }
  }

  deinit { close(descriptor) }
}

/// Writes a body to a file that has no name until it is complete (open(2), O_TMPFILE).
final class FileReceiver: BodyReceiving, @unchecked Sendable {
  // Unchecked: the caller uses the mutable state only before and after the transfer, and curl's thread during it.
  private struct State: ~Copyable {
    var file: PageWriter
    /// The remaining bytes. Nil if the server did not announce a length.
    var missing: Int?
  }

  private let folder: KeptFolder
  private let name: String
  /// Behind a pointer, because Swift would check for exclusive access to a class variable for each piece.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  init(_ name: String, in folder: KeptFolder) throws(LoadError) {
    (self.folder, self.name) = (folder, name)
    let descriptor = openat(folder.descriptor, ".", O_WRONLY | Self.temporary | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(name) }
    state.initialize(to: State(file: PageWriter(descriptor)))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    try head.expectSuccess()
    state.pointee.missing = head.contentLength
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let missing = state.pointee.missing.map { $0 - bytes.count }
    state.pointee.missing = missing
    guard state.pointee.file.write(bytes, isLast: missing == 0) else { throw Self.failure(name) }
  }

  func commit() throws(LoadError) {
    guard state.pointee.file.write(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) else {
      throw Self.failure(name)
    }
    let descriptor = state.pointee.file.descriptor
    // Before Linux 6.10, only the superuser may link a file by its descriptor alone.
    let isNamed =
      linkat(descriptor, "", folder.descriptor, name, Self.byDescriptor) == 0
      || linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", folder.descriptor, name, AT_SYMLINK_FOLLOW) == 0
    guard isNamed else { throw Self.failure(name) }
  }

  /// O_TMPFILE, which the importer omits (Linux, asm-generic/fcntl.h).
  private static let temporary = O_DIRECTORY | 0o20_000_000
  /// AT_EMPTY_PATH, which it omits too (linux/fcntl.h).
  private static let byDescriptor: Int32 = 0x1000

  private static func failure(_ name: String) -> LoadError {
    LoadError(.unavailable, message: "`\(name)` cannot be written")
  }
}

/// Discards a body.
struct DiscardingReceiver: BodyReceiving {
  func begin(_ head: ResponseHead) throws(LoadError) { try head.expectSuccess() }
  func receive(_ bytes: UnsafeRawBufferPointer) {}
}

extension ResponseHead {
  func expectSuccess() throws(LoadError) {
    guard status == 200 else {
      throw LoadError(.status, url: url, message: "the server responded with \(status)", status: status)
    }
  }
}
