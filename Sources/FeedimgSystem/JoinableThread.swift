import CLinux
import Synchronization

/// A thread that another thread may join; it is detached if no thread joins it.
package final class JoinableThread: Sendable {
  private struct Handle: @unchecked Sendable {
    // Unchecked: a thread takes the handle out of the lock before it uses it, so only one thread uses it at a
    // time.
    let pointer: OpaquePointer
  }

  /// The handle; nil while a thread joins, and afterwards.
  private let handle: Mutex<Handle?>

  init(_ thread: OpaquePointer) { handle = Mutex(Handle(pointer: thread)) }

  deinit {
    if let handle = handle.withLock({ $0.take() }) { clinux_detach(handle.pointer) }
  }

  /// Waits until the thread has ended, including the destructors of libraries; one thread at a time may join.
  ///
  /// - Returns: False if the thread still runs, or if it joins itself.
  package func join(milliseconds: Int) -> Bool {
    guard let taken = handle.withLock({ $0.take() }) else { return true }
    guard clinux_join(taken.pointer, milliseconds) != 0 else { return true }
    handle.withLock { $0 = taken }
    return false
  }
}
