import CLinux
import Glibc

/// Wakes a thread that sleeps in poll(2), from any thread (eventfd(2)).
package final class Waker: Sendable {
  /// Readable after ``wake()``, until ``clear()``.
  package let descriptor: Int32

  /// Returns nil if the process has no descriptor left.
  package init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    if descriptor < 0 { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  package func wake() {
    while eventfd_write(descriptor, 1) < 0, errno == EINTR {}
  }

  package func clear() {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
  }
}
