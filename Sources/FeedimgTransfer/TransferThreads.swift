import FeedimgSystem
import Glibc
import Synchronization

/// The threads on which libcurl runs, which the end of the program waits for.
///
/// A program may end while such a thread closes its connections, or while OpenSSL cleans up behind it. OpenSSL's own
/// clean-up at the end of the program takes away what they use, and the program would crash after its work is done. So
/// the threads are ended before, by a handler of exit(3): handlers are called in the reverse order, hence one is
/// registered when libcurl has registered those of its libraries.
enum TransferThreads {
  fileprivate struct Running {
    let thread: JoinableThread
    /// Asks it to end.
    let stop: @Sendable () -> Void
  }

  fileprivate struct State {
    var running: [Int: Running] = [:]
    /// Those whose work is done; they are waited for when the next one starts.
    var over: [Int] = []
    var issued = 0
    /// The process whose threads these are: a fork has none of them.
    var process: pid_t = 0
  }

  /// Guards which threads there are; also while one is started, so that it cannot be over before it is known.
  private static let state = Mutex(State())

  /// So long the end of the program waits for what does not end; in milliseconds.
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
    // Should the program end before libcurl is there.
    _ = atStart
    let (isStarted, over) = state.withLock { state -> (Bool, [Running]) in
      let over = state.takeOver()
      state.issued += 1
      let number = state.issued
      let thread = SystemThread.startJoinable(name) {
        body()
        Self.state.withLock { $0.over.append(number) }
      }
      guard let thread else { return (false, over) }
      state.process = getpid()
      state.running[number] = Running(thread: thread, stop: stop)
      return (true, over)
    }
    let failure = errno
    for one in over { _ = one.thread.join(milliseconds: patience) }
    errno = failure
    return isStarted
  }

  /// Has the end of the program wait; called when the libraries that libcurl uses have made themselves ready.
  static func outliveLibraries() { _ = afterLibraries }

  private static let atStart: Void = { atexit { TransferThreads.endAll() } }()
  private static let afterLibraries: Void = { atexit { TransferThreads.endAll() } }()

  /// Ends all of them, and waits for it.
  private static func endAll() {
    let running = state.withLock { state -> [Running] in
      guard state.process == getpid() else { return [] }
      defer { state.running = [:] }
      return Array(state.running.values)
    }
    for one in running { one.stop() }
    for one in running { _ = one.thread.join(milliseconds: patience) }
  }
}

extension TransferThreads.State {
  fileprivate mutating func takeOver() -> [TransferThreads.Running] {
    defer { over = [] }
    return over.compactMap { running.removeValue(forKey: $0) }
  }
}
