import CRuntime
import Glibc

/// A copy of a body in memory of its own that can never change, for sockets to take without copying it again.
///
/// A socket that is given pages (sendfile(2)) hands out what is in them when its client reads, long after the call. Pages of
/// the heap are used for something else by then, and files of the cache may be written to by anybody who may open them.
/// These pages belong to a file without a name (memfd_create(2)) that the kernel lets nobody write to, map for writing,
/// shorten or lengthen, not this process either, and that no privilege unseals. Closing it leaves what is on its way as it
/// is: the pages stay until the last client has read them. Each client is sent from a position of its own.
final class SealedBody: Sendable {
  /// Less than this is copied sooner than handed over page by page; in bytes.
  static let worth = 64 << 10

  let count: Int
  let descriptor: Int32

  /// Nil where the system refuses, for whatever reason: no memory, no descriptor, a kernel or a filter without it.
  ///
  /// - Parameter bytes: All of the body.
  init?(_ bytes: [UInt8]) {
    let descriptor = bytes.withUnsafeBytes { feedimg_seal($0.baseAddress, $0.count) }
    guard descriptor >= 0 else { return nil }
    (self.descriptor, count) = (descriptor, bytes.count)
  }

  deinit { close(descriptor) }

  /// What it takes: whole pages, and what the kernel keeps of a file, estimated; in bytes.
  var cost: Int { (count + 4095) / 4096 * 4096 + 1024 }

  /// Hands a part of it to a socket, as far as that takes it without waiting.
  ///
  /// - Parameters:
  ///   - range: Within the body.
  ///   - socket: One that does not wait (`O_NONBLOCK`), in a process that ignores `SIGPIPE`, as NIO has it.
  /// - Returns: How many bytes were taken; nil where the kernel does not do this for such a socket.
  func send(_ range: Range<Int>, to socket: Int32) -> Int? {
    var position = off_t(range.lowerBound)
    while position < range.upperBound {
      let taken = sendfile(socket, descriptor, &position, range.upperBound - Int(position))
      if taken > 0 || taken < 0 && errno == EINTR { continue }
      let isRefused = taken < 0 && [EINVAL, ENOSYS, EPERM, EACCES].contains(errno)
      return isRefused && position == range.lowerBound ? nil : Int(position) - range.lowerBound
    }
    return range.count
  }
}
