import FeedimgThreads
import Glibc

/// The thread `feedimg-alarm`, which wakes tasks that sleep; it is there only while one does.
///
/// Sleeping by the clocks of the language's runtime would have a thread of that wake every second, for good.
final class AlarmThread: @unchecked Sendable {
  // Unchecked: the condition is used under the system's own lock alone, as is everything that the lock guards; both
  // live as long as this object, and the thread holds on to it.
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var sleepers: [Int: (due: Int, continuation: CheckedContinuation<Void, any Error>)] = [:]
  private var issued = 0
  private var isRunning = false

  init() {
    lock.initialize(to: pthread_mutex_t())
    changed.initialize(to: pthread_cond_t())
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // The clock of the system may be set.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(lock)
    changed.deallocate()
    lock.deallocate()
  }

  /// Returns after so long.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  func sleep(_ duration: Duration) async throws {
    let number = locked {
      issued += 1
      return issued
    }
    let due = Self.now() + Int(min(duration / .nanoseconds(1), 1e18))
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeps = locked {
          guard !Task.isCancelled, runs() else { return false }
          sleepers[number] = (due, continuation)
          return true
        }
        // Also for want of a thread: who gives up does less harm than who tries again at once.
        if !sleeps { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      locked { sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
      pthread_cond_signal(changed)
    }
  }

  /// Whether the thread runs by now, and looks again; to be called under the lock.
  private func runs() -> Bool {
    pthread_cond_signal(changed)
    isRunning = isRunning || SystemThread.start("feedimg-alarm") { self.run() }
    return isRunning
  }

  private func run() {
    while let awake = next() {
      for continuation in awake { continuation.resume() }
    }
  }

  /// Waits for the next who are due; nil when nobody sleeps any more, which ends the thread.
  private func next() -> [CheckedContinuation<Void, any Error>]? {
    locked {
      while let first = sleepers.values.map(\.due).min() {
        let now = Self.now()
        guard first > now else {
          let due = sleepers.filter { $0.value.due <= now }
          for number in due.keys { sleepers[number] = nil }
          return due.values.map(\.continuation)
        }
        var time = timespec(tv_sec: first / 1_000_000_000, tv_nsec: first % 1_000_000_000)
        pthread_cond_timedwait(changed, lock, &time)
      }
      isRunning = false
      return nil
    }
  }

  private func locked<Answer>(_ body: () -> Answer) -> Answer {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body()
  }

  /// In nanoseconds.
  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
