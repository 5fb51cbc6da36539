import CRuntime
import NIOPosix

/// The thread for all tasks of the process that prefer no other one.
///
/// It stands in for the pool of the language's runtime, which wakes every second from its first task on, also while
/// nobody asks for anything.
public enum TaskThread {
  private static let executor = LoopExecutor(MultiThreadedEventLoopGroup(numberOfThreads: 1).next())

  /// Has tasks run there from now on; called once, before the first of them.
  ///
  /// Threads then also share their memory, which takes less of it than one arena each.
  public static func takeOver() {
    feedimg_share_arena(reusedLength)
    feedimg_take_jobs { job in
      guard let job else { return }
      // The runtime hands over a job, which is what Swift calls unowned.
      TaskThread.executor.enqueue(ExecutorJob(unsafeBitCast(job, to: UnownedJob.self)))
    }
  }

  /// Blocks of up to so many bytes are used again and not given back to the system, which would clear them each time.
  private static let reusedLength: Int32 = 512 << 10
}
