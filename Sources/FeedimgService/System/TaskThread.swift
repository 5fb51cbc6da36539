import CRuntime
import NIOPosix

/// The thread for all tasks of the process without another preference.
///
/// It replaces the thread pool of the Swift runtime, which wakes the idle process every second.
public enum TaskThread {
  private static let executor = EventLoopTaskExecutor(MultiThreadedEventLoopGroup(numberOfThreads: 1).next())

  /// Runs tasks on the thread from now on; called once, before the first task.
  ///
  /// All threads then also share one malloc arena, which takes less memory.
  public static func takeOver() {
    feedimg_share_arena(reusedLength)
    feedimg_take_jobs { job in
      guard let job else { return }
      // The pointer is what Swift calls an unowned job.
      TaskThread.executor.enqueue(ExecutorJob(unsafeBitCast(job, to: UnownedJob.self)))
    }
  }

  /// The largest block that malloc reuses, in bytes; the system would have to clear a new one each time.
  private static let reusedLength: Int32 = 512 << 10
}
