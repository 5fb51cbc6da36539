import CLinux
import Glibc

/// What the libraries below feedimg need; without it, they crash or never return.
package enum RequiredResources {
  /// Asks the system for a thread, a descriptor for events (eventfd(2)), and one to wait on (epoll_create1(2)).
  ///
  /// - Returns: The first of them that the system refuses, with its reason; nil if it grants all.
  package static func refusal() -> String? {
    guard SystemThread.start("feedimg-probe", {}) else { return message("start a thread") }
    let event = eventfd(0, Int32(EFD_CLOEXEC))
    guard event >= 0 else { return message("create a descriptor for events") }
    defer { close(event) }
    let queue = clinux_epoll()
    guard queue >= 0 else { return message("create a descriptor to wait on") }
    close(queue)
    return nil
  }

  private static func message(_ operation: String) -> String {
    "cannot \(operation): \(FileError.words(for: errno))"
  }
}
