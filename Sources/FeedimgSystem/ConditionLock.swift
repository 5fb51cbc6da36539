import Glibc

/// A mutex with a condition variable; threads can wait for a change of the state that it guards.
package final class ConditionLock<State: Sendable>: @unchecked Sendable {
  // Unchecked: `state` is used only under `mutex`. Both pointers are valid as long as this object lives.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  /// The next step of a waiting thread.
  package enum Step<Result> {
    case done(Result)
    /// Sleep until the next ``signal()``.
    case wait
    /// Sleep until the next ``signal()``, but at most until this time on the clock of ``now``, in
    /// nanoseconds.
    case waitUntil(Int)
  }

  package init(_ state: State) {
    self.state = state
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Unlike the default clock, this one does not jump when the user sets the time.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Wakes one waiting thread.
  package func signal() { pthread_cond_signal(condition) }

  /// Wakes all waiting threads.
  package func signalAll() { pthread_cond_broadcast(condition) }

  /// Calls the body under the lock, and again after each sleep, until it returns `done`.
  package func wait<Result>(_ body: (inout State) -> Step<Result>) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      switch body(&state) {
      case .done(let result): return result
      case .wait: pthread_cond_wait(condition, mutex)
      case .waitUntil(let time):
        var time = timespec(tv_sec: time / 1_000_000_000, tv_nsec: time % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &time)
      }
    }
  }

  /// The current time of the clock for waits (CLOCK_MONOTONIC), in nanoseconds.
  package static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
