import Glibc

/// The service manager that started this process, if any: systemd, or one with the same protocol.
///
/// Source: sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3).
struct ServiceManager: Sendable {
  private let environment: [String: String]

  /// - Parameter environment: The variables of the process.
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

  /// The listening sockets that the manager passes to this process.
  ///
  /// - Throws: ``ServiceError`` for a descriptor of another kind, and for a TCP socket that other machines may reach.
  func sockets() throws(ServiceError) -> [ListeningSocket] {
    guard environment["LISTEN_PID"] == String(getpid()),
      let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...64).contains(count)
    else { return [] }
    var sockets: [ListeningSocket] = []
    // The first descriptor follows standard error (SD_LISTEN_FDS_START).
    for descriptor in 3..<(3 + count) {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      guard let place = try Self.place(of: descriptor) else {
        throw ServiceError("descriptor \(descriptor) of the service manager is not a listening stream socket")
      }
      sockets.append(ListeningSocket(descriptor: descriptor, place: place))
    }
    return sockets
  }

  private static func place(of descriptor: Int32) throws(ServiceError) -> ListeningSocket.Place? {
    var (isListening, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening != 0,
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &isListening, &length) == 0,
      isListening == Int32(SOCK_STREAM.rawValue)
    else { return nil }
    if let place = try ListeningSocket.internetPlace(of: descriptor) { return place }
    var address = sockaddr_un()
    length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isNamed = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isNamed, Int32(address.sun_family) == AF_UNIX else { return nil }
    return .path(
      withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    )
  }

  private func notify(_ text: String) {
    guard let name = environment["NOTIFY_SOCKET"], var address = Self.address(of: name) else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + name.utf8.count } ?? 0
    let bytes = Array(text.utf8)
    // The service works also where the manager does not listen.
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
      }
    }
  }

  /// The address of a path, or of an abstract name that begins with `@`.
  private static func address(of name: String) -> sockaddr_un? {
    guard name.hasPrefix("/") || name.hasPrefix("@"), var address = UnixSocket.address(of: name) else {
      return nil
    }
    if name.hasPrefix("@") { address.sun_path.0 = 0 }
    return address
  }
}
