import Feedimg
import Glibc
import Synchronization

/// Saves the data usage of a loader before the program ends, normally or by a signal.
enum FinalCount {
  private struct Counted {
    /// Weak, so that the loader ends with its command.
    weak var loader: ImageLoader?
    /// Writes the traffic of a loader that has ended.
    var meter: UsageMeter?
  }

  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private static let counted = Mutex(Counted())
  /// The signal that ends the program.
  private static let received = Atomic<Int32>(0)
  // Unsafe: initialised before the first signal handler is set; semaphores are safe in handlers and threads.
  nonisolated(unsafe) private static let arrival = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  /// Saves the data usage of this loader before the program ends; call it once.
  ///
  /// If no thread is available, a signal ends the program at once.
  static func include(_ loader: ImageLoader) {
    counted.withLock { ($0.loader, $0.meter) = (loader, loader.resources.sources.meter) }
    // A handler must not be the first to use a global.
    received.store(0, ordering: .relaxed)
    sem_init(arrival, 0, 0)
    guard startThread() else { return }
    for number in signals { take(number) }
  }

  /// Saves the data usage now.
  static func write() {
    let (loader, meter) = counted.withLock { ($0.loader, $0.meter) }
    loader?.resources.saveBandwidth()
    meter?.endAll()
  }

  private static func take(_ number: Int32) {
    let former = signal(number) { number in
      // A handler may only use async-signal-safe functions (signal-safety(7)) and lock-free atomics.
      // A second signal ends the program at once.
      _ = signal(number, SIG_DFL)
      FinalCount.received.store(number, ordering: .relaxed)
      sem_post(FinalCount.arrival)
    }
    // Keep a signal ignored if the parent ignores it, as `nohup` and shells with background jobs do.
    if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
  }

  /// Starts the thread that waits for a signal, saves the data usage, and raises the signal again.
  private static func startThread() -> Bool {
    var thread = pthread_t()
    let failure = pthread_create(
      &thread,
      nil,
      { _ in
        // The parent process may have blocked the signals.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        for number in FinalCount.signals { sigaddset(&blocked, number) }
        pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
        while sem_wait(FinalCount.arrival) != 0 {}
        FinalCount.write()
        kill(getpid(), FinalCount.received.load(ordering: .relaxed))
        return nil
      },
      nil
    )
    if failure == 0 { pthread_detach(thread) }
    return failure == 0
  }
}
