import Glibc
import NIOCore

/// The service manager that started this process, if any: systemd, or one with the same protocol.
///
/// Source: sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3).
struct ServiceManager: Sendable {
  private let environment: [String: String]

  init(environment: [String: String]) { self.environment = environment }

  /// Reports that the service accepts clients.
  func isReady() { notify("READY=1\nSTATUS=serving") }

  /// Reports that the service reads its files again; ``isReady()`` follows.
  func isReloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    notify("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  /// Reports that the service accepts no more clients.
  func isStopping() { notify("STOPPING=1\nSTATUS=finishing running requests") }

  /// Reports that the service is alive.
  func isAlive() { notify("WATCHDOG=1") }

  /// The interval in which the manager expects ``isAlive()``, in microseconds; nil for none.
  var watchdogPeriod: Int? {
    if let process = environment["WATCHDOG_PID"], process != String(getpid()) { return nil }
    return environment["WATCHDOG_USEC"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// A listening socket that the manager passes to this process.
  typealias PassedSocket = (descriptor: Int32, isUnix: Bool)

  /// The listening sockets that the manager passes to this process; any other descriptor is an error.
  func sockets() throws(ServiceError) -> [PassedSocket] {
    guard environment["LISTEN_PID"] == String(getpid()),
      let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...64).contains(count)
    else { return [] }
    var sockets: [PassedSocket] = []
    // The first descriptor follows standard error (SD_LISTEN_FDS_START).
    for descriptor in 3..<(3 + count) {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let family = Self.option(SO_DOMAIN, of: descriptor)
      guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1, [AF_UNIX, AF_INET, AF_INET6].contains(family),
        Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
      else {
        throw ServiceError("descriptor \(descriptor) of the service manager is not a listening stream socket")
      }
      sockets.append((descriptor, family == AF_UNIX))
    }
    return sockets
  }

  private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
    var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }

  private func notify(_ text: String) {
    // A name that begins with `@` is abstract (unix(7)).
    guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@"),
      let address = try? SocketAddress(
        unixDomainSocketPath: name.hasPrefix("@") ? "\0\(name.dropFirst())" : name
      )
    else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + name.utf8.count } ?? 0
    let bytes = Array(text.utf8)
    // The service works also where the manager does not listen.
    _ = address.withSockAddr { place, _ in
      sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), place, socklen_t(length))
    }
  }
}
