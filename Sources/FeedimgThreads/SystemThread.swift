import CThreads
import Glibc

/// A thread of the system's own, for what blocks: on the threads that all tasks share, it would hold up the others.
package enum SystemThread {
  /// What a new thread is handed.
  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a thread, which nobody can wait for; it leaves signals to the threads of the program.
  ///
  /// Those that tell of a fault in the thread itself reach it, so that crash reports work.
  ///
  /// - Parameters:
  ///   - name: As debuggers and `top -H` show it, of at most 15 bytes.
  ///   - body: Called once, on the thread, which ends with it. Let go where no thread starts.
  /// - Returns: Whether the system grants one; `errno` says why not.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(name, body))
    let failure = withoutSignals { create(work.toOpaque()) }
    guard failure != 0 else { return true }
    work.release()
    errno = failure
    return false
  }

  /// Starts a thread as ``start(_:_:)`` does, which somebody waits for.
  ///
  /// - Parameters:
  ///   - name: As debuggers and `top -H` show it, of at most 15 bytes.
  ///   - body: Called once, on the thread, which ends with it. Let go where no thread starts.
  /// - Returns: Nil where the system grants none; `errno` says why.
  package static func startJoinable(
    _ name: String,
    _ body: @escaping @Sendable () -> Void
  ) -> JoinableThread? {
    let work = Unmanaged.passRetained(Work(name, body))
    var thread: OpaquePointer?
    let failure = withoutSignals {
      thread = cthreads_start(run, work.toOpaque())
      return thread == nil ? errno : 0
    }
    if let thread { return JoinableThread(thread) }
    work.release()
    errno = failure
    return nil
  }

  private static func create(_ work: UnsafeMutableRawPointer) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    return pthread_create(&thread, &attributes, run, work)
  }

  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    // Always given, by the call above.
    guard let context else { return nil }
    let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
    cthreads_name(work.name)
    cthreads_forbid_cancellation()
    work.body()
    return nil
  }

  /// A new thread takes over which signals are held back from who starts it.
  private static func withoutSignals(_ body: () -> Int32) -> Int32 {
    withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 2) { sets in
      guard let held = sets.baseAddress else { return ENOMEM }
      let before = held + 1
      sigfillset(held)
      for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(held, fault) }
      pthread_sigmask(SIG_SETMASK, held, before)
      defer { pthread_sigmask(SIG_SETMASK, before, nil) }
      return body()
    }
  }
}
