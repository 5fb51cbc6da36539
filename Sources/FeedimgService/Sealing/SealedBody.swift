import FeedimgSystem
import Glibc
import NIOCore

/// A copy of a body in immutable memory, which sockets send without copying (sendfile(2)).
///
/// A socket refers to the pages until the client has read them. The pages therefore must not change: memory of the heap is
/// reused, and other processes may write to files of the cache. A sealed file in memory (memfd_create(2)) never changes.
/// Closing the file leaves the pages that are on their way to clients.
final class SealedBody: Sendable {
  /// The least length for which sending pages is faster than copying, in bytes.
  static let minimumLength = 64 << 10

  let count: Int
  let file: NIOFileHandle

  /// Copies a body; nil where the system refuses, as without memory, descriptors or kernel support.
  init?(_ bytes: [UInt8]) {
    guard let descriptor = SystemMemory.seal(bytes) else { return nil }
    file = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    count = bytes.count
  }

  deinit { try? file.close() }

  /// The memory that the copy takes: whole pages and the kernel's own records, estimated, in bytes.
  var cost: Int { (count + 4095) / 4096 * 4096 + 1024 }

  /// A part of the body; the receiver must live until the part has been sent.
  func region(_ range: Range<Int>) -> FileRegion {
    FileRegion(fileHandle: file, readerIndex: range.lowerBound, endIndex: range.upperBound)
  }

  /// Whether the system sends sealed bodies to Unix sockets; some sandboxes refuse it.
  static func canBeSent() -> Bool {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard let body = SealedBody([0]), socketpair(AF_UNIX, type, 0, &ends) == 0 else { return false }
    defer { for end in ends { close(end) } }
    let sent = try? body.file.withUnsafeFileDescriptor { file in
      var position = off_t(0)
      return sendfile(ends[0], file, &position, 1)
    }
    return sent == 1
  }
}
