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
  /// The end of the pipe to which the signal handler writes.
  private static let writeEnd = Atomic<Int32>(-1)
  /// The end of the pipe from which the waiting thread reads.
  private static let readEnd = Atomic<Int32>(-1)

  /// Saves the data usage of this loader before the program ends; call it once.
  ///
  /// If no pipe or thread is available, a signal ends the program at once.
  static func include(_ loader: ImageLoader) {
    counted.withLock { ($0.loader, $0.meter) = (loader, loader.meter) }
    var pair: [Int32] = [-1, -1]
    guard pipe(&pair) == 0 else { return }
    for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd.store(pair[0], ordering: .sequentiallyConsistent)
    writeEnd.store(pair[1], ordering: .sequentiallyConsistent)
    guard startThread() else { return }
    for number in signals { take(number) }
  }

  /// Saves the data usage now.
  static func write() {
    let (loader, meter) = counted.withLock { ($0.loader, $0.meter) }
    loader?.saveBandwidth()
    meter?.endAll()
  }

  private static func take(_ number: Int32) {
    let former = signal(number) { number in
      // A handler may only use async-signal-safe functions (signal-safety(7)) and lock-free atomics.
      let saved = errno
      // A second signal ends the program at once.
      _ = signal(number, SIG_DFL)
      var byte = UInt8(truncatingIfNeeded: number)
      _ = Glibc.write(FinalCount.writeEnd.load(ordering: .relaxed), &byte, 1)
      errno = saved
    }
    // Keep a signal ignored if the parent ignores it, as `nohup` and shells with background jobs do.
    if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
  }

  /// Starts the thread that waits for a signal, saves the data usage, and raises the signal again.
  private static func startThread() -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
      // The parent process may have blocked the signals.
      var blocked = sigset_t()
      sigemptyset(&blocked)
      for number in FinalCount.signals { sigaddset(&blocked, number) }
      pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
      var number: UInt8 = 0
      while read(FinalCount.readEnd.load(ordering: .relaxed), &number, 1) != 1 {
        guard errno == EINTR else { return nil }
      }
      FinalCount.write()
      kill(getpid(), Int32(number))
      return nil
    }
    return pthread_create(&thread, &attributes, run, nil) == 0
  }
}
