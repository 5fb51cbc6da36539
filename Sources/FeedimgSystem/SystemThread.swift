import CLinux
import Glibc

/// Threads for blocking calls, which would delay other tasks on the shared threads.
package enum SystemThread {
  /// The argument of a new thread.
  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a detached thread that blocks all signals except those for its own faults.
  ///
  /// The name has at most 15 bytes.
  ///
  /// - Returns: False if the thread cannot be started; `errno` has the reason.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(name, body))
    var thread = pthread_t()
    let failure = withoutSignals { pthread_create(&thread, nil, run, work.toOpaque()) }
    guard failure != 0 else {
      pthread_detach(thread)
      return true
    }
    work.release()
    errno = failure
    return false
  }

  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    // The calls above always pass a context.
    guard let context else { return nil }
    let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
    clinux_name(work.name)
    // Swift cannot unwind.
    pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), nil)
    // This changes no behaviour, but glibc skips two atomic exchanges around each blocking call.
    pthread_setcanceltype(Int32(PTHREAD_CANCEL_ASYNCHRONOUS), nil)
    work.body()
    return nil
  }

  /// Calls the body with signals blocked, except those for faults; a new thread inherits the mask of its
  /// creator.
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
