import FeedimgSystem
import Glibc
import Synchronization

/// The threads on which libcurl runs, as the end of the program has to wait for them.
///
/// OpenSSL cleans up in exit(3). A thread that still closes connections then would crash the program. So a handler of
/// exit(3) ends the threads before that. Handlers run in reverse order, hence it is registered after OpenSSL's.
enum CurlThreads {
  private struct Running {
    let thread: JoinableThread
    /// Asks the thread to end.
    let stop: @Sendable () -> Void
    /// A fork has none of the threads of its parent.
    let process = getpid()
  }

  /// Guards the threads that have not been joined.
  private static let running = Mutex<[Running]>([])

  /// How long the end of the program waits for each thread, in milliseconds.
  private static let patience = 2000

  /// Starts a thread.
  ///
  /// - Parameters:
  ///   - name: As for ``SystemThread``.
  ///   - body: Its work.
  ///   - stop: Asks it to end; it may have ended already.
  /// - Returns: Whether the system grants one; `errno` says why not.
  static func start(
    _ name: String,
    _ body: @escaping @Sendable () -> Void,
    stop: @escaping @Sendable () -> Void
  ) -> Bool {
    // In case the program ends before libcurl is open.
    _ = atStart
    return running.withLock { running in
      running.removeAll { $0.thread.join(milliseconds: 0) }
      guard let thread = SystemThread.startJoinable(name, body) else { return false }
      running.append(Running(thread: thread, stop: stop))
      return true
    }
  }

  /// Registers the handler again, once libcurl's libraries have registered theirs.
  static func outliveLibraries() { _ = afterLibraries }

  private static let atStart: Void = { atexit { CurlThreads.endAll() } }()
  private static let afterLibraries: Void = { atexit { CurlThreads.endAll() } }()

  /// Ends all threads, and waits for them.
  private static func endAll() {
    let threads = running.withLock { running in
      defer { running = [] }
      return running.filter { $0.process == getpid() }
    }
    for one in threads { one.stop() }
    for one in threads { _ = one.thread.join(milliseconds: patience) }
  }
}
