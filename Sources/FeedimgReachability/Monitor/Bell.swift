import CNetlink
import Glibc

/// Wakes a thread that sleeps in `poll`.
final class Bell: Sendable {
  let descriptor: Int32

  /// - Returns: Nil where the process has no descriptor left.
  init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    if descriptor < 0 { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func ring() {
    eventfd_write(descriptor, 1)
  }

  func silence() {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
  }
}
