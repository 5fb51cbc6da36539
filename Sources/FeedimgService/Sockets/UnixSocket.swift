import Glibc

/// The Unix socket of the user, held by one service at a time.
///
/// The service holds a lock beside the socket. A socket without a locked lock is stale, as after a kill; the service
/// replaces it atomically.
final class UnixSocket: Sendable {
  let socket: ListeningSocket
  private let path: String
  private let lock: Int32

  /// Listens on a path; only the user can connect.
  ///
  /// - Throws: ``ServiceError`` for a path that another service or another file has, or that cannot be used.
  init(path: String) throws(ServiceError) {
    self.path = path
    // An invalid path leaves no files behind.
    let (fresh, address) = try Self.freshAddress(beside: path)
    lock = try Self.locked(path)
    do throws(ServiceError) {
      let descriptor = try Self.bound(to: fresh, address, renamedTo: path)
      socket = ListeningSocket(descriptor: descriptor, place: .path(path))
    } catch {
      close(lock)
      throw error
    }
  }

  deinit {
    unlink(path)
    close(lock)
  }

  private static func locked(_ path: String) throws(ServiceError) -> Int32 {
    let name = "\(path).lock"
    let lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw ServiceError("`\(name)`: cannot be opened: \(SystemErrorText.of())") }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(lock)
      guard code == EWOULDBLOCK else {
        throw ServiceError("`\(name)`: cannot be locked: \(SystemErrorText.of(code))")
      }
      throw ServiceError("another `feedimg serve` already listens on `\(path)`")
    }
    return lock
  }

  /// A temporary name, so that no client can connect before the mode of the socket is set.
  private static func freshAddress(beside path: String) throws(ServiceError) -> (String, sockaddr_un) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      throw ServiceError(
        "`\(path)` exists and is not a socket; remove it, or choose another path with --socket",
        isUsage: true
      )
    }
    let fresh = "\(path).\(getpid())"
    guard let address = address(of: fresh) else {
      throw ServiceError(
        "`\(path)` is too long for a socket; choose a shorter path with --socket",
        isUsage: true
      )
    }
    return (fresh, address)
  }

  private static func bound(
    to fresh: String,
    _ address: sockaddr_un,
    renamedTo path: String
  ) throws(ServiceError) -> Int32 {
    var address = address
    unlink(fresh)
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ServiceError("cannot create a socket: \(SystemErrorText.of())") }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, chmod(fresh, 0o600) == 0, listen(descriptor, ListeningSocket.backlog) == 0,
      rename(fresh, path) == 0
    else {
      let reason = SystemErrorText.of()
      unlink(fresh)
      close(descriptor)
      throw ServiceError("cannot listen on `\(path)`: \(reason)")
    }
    return descriptor
  }

  /// The address of a path; nil for a path that is too long (unix(7)).
  static func address(of path: String) -> sockaddr_un? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0)
    else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
  }
}
