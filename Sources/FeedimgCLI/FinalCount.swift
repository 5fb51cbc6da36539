import Feedimg
import Glibc
import Synchronization

/// Has what a loader received counted, however the program ends: by itself, or by a signal.
enum FinalCount {
  private struct Counted {
    /// Weak, so that it ends when its command does.
    weak var loader: ImageLoader?
  }

  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private static let counted = Mutex(Counted())
  /// Where the handler writes, and who acts on it reads; one pipe for the process, as signals are.
  private static let writeEnd = Atomic<Int32>(-1)
  private static let readEnd = Atomic<Int32>(-1)

  /// Has the loader write down its count before the program ends; to be called once.
  ///
  /// Where the system grants no pipe or thread, signals end the program as they would without this.
  static func include(_ loader: ImageLoader) {
    counted.withLock { $0.loader = loader }
    var pair: [Int32] = [-1, -1]
    guard pipe(&pair) == 0 else { return }
    for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd.store(pair[0], ordering: .sequentiallyConsistent)
    writeEnd.store(pair[1], ordering: .sequentiallyConsistent)
    guard startThread() else { return }
    for number in signals { take(number) }
  }

  /// Writes down what has been received, before the program ends.
  static func write() { counted.withLock { $0.loader }?.writeUsage() }

  private static func take(_ number: Int32) {
    let former = signal(number) { number in
      // Nothing but system calls may happen in a handler (signal-safety(7)); a load without a lock is none.
      let saved = errno
      // Who asks twice does not want to wait.
      _ = signal(number, SIG_DFL)
      var byte = UInt8(truncatingIfNeeded: number)
      _ = Glibc.write(FinalCount.writeEnd.load(ordering: .relaxed), &byte, 1)
      errno = saved
    }
    // As `nohup` has it, and shells for what runs in the background.
    if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
  }

  /// Starts the thread that waits for a signal, writes, and lets the signal end the program as it would have.
  private static func startThread() -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
      // Who started this process may have left them blocked.
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
