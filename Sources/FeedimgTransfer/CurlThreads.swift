import FeedimgSystem
import Glibc
import Synchronization

/// The threads on which libcurl runs; exit(3) ends them and waits for them.
///
/// OpenSSL cleans up in exit(3). A thread that still closed connections then would crash the program. A
/// handler of exit(3) therefore ends the threads first. Handlers run in reverse order, so it is registered
/// after OpenSSL's.
enum CurlThreads {
  private struct Running {
    let thread: JoinableThread
    /// Asks the thread to end.
    let stop: @Sendable () -> Void
    /// The process that started the thread; a fork has no threads of its parent.
    let process = getpid()
  }

  /// Guards the threads that have not been joined.
  private static let running = Mutex<[Running]>([])

  /// The longest wait for each thread in exit(3), in milliseconds.
  private static let exitTimeout = 2000

  /// Starts a thread that `stop` asks to end; it may have ended already.
  ///
  /// - Returns: False if the thread cannot be started; `errno` has the reason.
  static func start(
    _ name: String,
    _ body: @escaping @Sendable () -> Void,
    stop: @escaping @Sendable () -> Void
  ) -> Bool {
    // The program may exit before libcurl is open.
    _ = atStart
    return running.withLock { running in
      running.removeAll { $0.thread.join(milliseconds: 0) }
      guard let thread = SystemThread.startJoinable(name, body) else { return false }
      running.append(Running(thread: thread, stop: stop))
      return true
    }
  }

  /// Registers the handler again after libcurl's libraries have registered theirs, so that it runs before
  /// them.
  static func registerAfterLibraries() { _ = afterLibraries }

  private static let atStart: Void = { atexit { CurlThreads.endAll() } }()
  private static let afterLibraries: Void = { atexit { CurlThreads.endAll() } }()

  /// Ends all threads and waits for them.
  private static func endAll() {
    let threads = running.withLock { running in
      defer { running = [] }
      return running.filter { $0.process == getpid() }
    }
    for one in threads { one.stop() }
    for one in threads { _ = one.thread.join(milliseconds: exitTimeout) }
  }
}
