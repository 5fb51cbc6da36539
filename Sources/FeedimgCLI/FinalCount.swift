import Feedimg
import FeedimgSystem
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
    guard SystemThread.start("feedimg-signals", { FinalCount.awaitSignal() }) else { return }
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

  /// Waits for a signal, saves the data usage, and raises the signal again.
  private static func awaitSignal() {
    // The thread starts with all signals blocked.
    var awaited = sigset_t()
    sigemptyset(&awaited)
    for number in signals { sigaddset(&awaited, number) }
    pthread_sigmask(SIG_UNBLOCK, &awaited, nil)
    while sem_wait(arrival) != 0 {}
    write()
    kill(getpid(), received.load(ordering: .relaxed))
  }
}
