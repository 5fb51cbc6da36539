import FeedimgSystem
import Glibc
import Synchronization

/// The signals that control the service, as a sequence.
public enum SignalWatch {
  /// The pipe that the handler writes to; one for the process, as signals are.
  private static let writeEnd = Atomic<Int32>(-1)

  /// Handles signals from now on and ignores `SIGPIPE`; called once.
  ///
  /// - Parameter signals: Such as `SIGTERM`.
  /// - Returns: Each signal as it arrives; nil where the system grants no pipe or thread, with the reason in `errno`.
  public static func signals(_ signals: [Int32]) -> AsyncStream<Int32>? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    signal(SIGPIPE, SIG_IGN)
    // The parent process may have blocked them.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for number in signals { sigaddset(&blocked, number) }
    pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
    for number in signals {
      signal(number) { number in
        // A handler may only make some system calls (signal-safety(7)); an atomic load is allowed too.
        let saved = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(SignalWatch.writeEnd.load(ordering: .relaxed), &byte, 1)
        errno = saved
      }
    }
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    return Reader(ends[0], continuation).start() ? stream : nil
  }

  /// Reads the bytes that the handler writes, on its own thread as long as the process lives.
  private final class Reader: Sendable {
    private let descriptor: Int32
    private let continuation: AsyncStream<Int32>.Continuation

    init(_ descriptor: Int32, _ continuation: AsyncStream<Int32>.Continuation) {
      self.descriptor = descriptor
      self.continuation = continuation
    }

    /// Returns whether the system granted a thread.
    func start() -> Bool { SystemThread.start("feedimg-signals") { self.run() } }

    private func run() {
      var byte: UInt8 = 0
      while true {
        let count = read(descriptor, &byte, 1)
        if count == 1 {
          continuation.yield(Int32(byte))
        } else if count == 0 || errno != EINTR {
          return continuation.finish()
        }
      }
    }
  }
}
