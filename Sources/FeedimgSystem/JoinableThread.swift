import CLinux
import Synchronization

/// A thread that another thread joins; without that, it runs on alone.
package final class JoinableThread: Sendable {
  private struct Handle: @unchecked Sendable {
    // Unchecked: a thread takes the handle out of the lock before it uses it, so that one thread does at a time.
    let pointer: OpaquePointer
  }

  /// Guards the handle; nil while a thread joins, and afterwards.
  private let handle: Mutex<Handle?>

  init(_ thread: OpaquePointer) { handle = Mutex(Handle(pointer: thread)) }

  deinit {
    if let handle = handle.withLock({ $0.take() }) { clinux_detach(handle.pointer) }
  }

  /// Waits until the thread has ended, destructors of libraries included; one thread may join at a time.
  ///
  /// - Parameter milliseconds: The longest wait.
  /// - Returns: Whether it has ended; false also on the thread itself.
  package func join(milliseconds: Int) -> Bool {
    guard let taken = handle.withLock({ $0.take() }) else { return true }
    guard clinux_join(taken.pointer, milliseconds) != 0 else { return true }
    handle.withLock { $0 = taken }
    return false
  }
}
