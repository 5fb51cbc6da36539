import CThreads
import Synchronization

/// A thread that somebody waits for in the end; without that, it goes on alone.
package final class JoinableThread: Sendable {
  private struct Handle: @unchecked Sendable {
    // Unchecked: it is taken out of the lock by who waits or lets go, so that only one does at a time.
    let pointer: OpaquePointer
  }

  /// Guards the thread; nil once it has been waited for, and while somebody waits.
  private let handle: Mutex<Handle?>

  init(_ thread: OpaquePointer) { handle = Mutex(Handle(pointer: thread)) }

  deinit {
    if let handle = handle.withLock({ $0.take() }) { cthreads_detach(handle.pointer) }
  }

  /// Waits until the thread has ended, with all that libraries do at the end of a thread; of several, one may wait.
  ///
  /// - Parameter milliseconds: The longest wait.
  /// - Returns: Whether it has ended; false also on the thread itself.
  package func join(milliseconds: Int) -> Bool {
    guard let taken = handle.withLock({ $0.take() }) else { return true }
    guard cthreads_join(taken.pointer, milliseconds) != 0 else { return true }
    handle.withLock { $0 = taken }
    return false
  }
}
