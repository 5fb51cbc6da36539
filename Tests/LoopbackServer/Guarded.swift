import Glibc

/// A value behind a lock that Thread Sanitizer can follow.
///
/// It cannot follow `Synchronization.Mutex` of Swift 6.3 where threads contend for it: the kernel then passes the lock on
/// (FUTEX_LOCK_PI) without an atomic access that the sanitizer sees, and races are reported that are none.
final class Guarded<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `value` is accessed with the lock held alone.
  private var value: Value
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body(&value)
  }
}
