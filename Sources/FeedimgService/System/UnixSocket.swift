import FeedimgSystem
import Glibc
import NIOCore

/// The Unix socket of the user, held by one service at a time.
///
/// The service holds a lock beside the socket. A socket without a locked lock is stale, as after a kill; the service
/// replaces it.
final class UnixSocket: Sendable {
  let path: String
  private let lock: OpenFile

  /// Makes sure that this service alone may listen on a path.
  init(path: String) throws(ServiceError) {
    self.path = path
    // An invalid path leaves no files behind.
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      throw .usage("`\(path)` exists and is not a socket; remove it, or choose another path with --socket")
    }
    guard (try? SocketAddress(unixDomainSocketPath: path)) != nil else {
      throw .usage("`\(path)` is too long for a socket; choose a shorter path with --socket")
    }
    let name = "\(path).lock"
    do throws(FileError) {
      let file = try OpenFile(name, to: "open", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      if try file.tryLock() {
        lock = file
        return
      }
    } catch {
      throw ServiceError("`\(name)`: cannot be opened: \(FileError.words(for: error.reason))")
    }
    throw ServiceError("another `feedimg serve` already listens on `\(path)`")
  }

  deinit { unlink(path) }
}
