import FeedimgSystem
import NIOCore

/// The threads for the tasks of the service, except those that run on an event loop or on `PipelineActor`.
///
/// No task of the service runs on the thread pool of the Swift runtime, which wakes the idle process every
/// second once it has run a task.
public enum TaskThread {
  /// The executor that tasks of the service prefer (SE-0417); child tasks inherit it.
  public static let executor: any TaskExecutor = ThreadExecutor("feedimg-tasks")

  /// The executor of the routes, which may compute for long or wait for the disk or for a locked file.
  static let routes: any TaskExecutor = ThreadExecutor("feedimg-routes")

  /// Makes all threads share one malloc arena, which takes less memory; called once, before the first thread.
  public static func shareArena() { SystemMemory.shareArena(reusedLength: reusedLength) }

  /// The largest block that malloc reuses, in bytes; the system would have to clear a new one each time.
  private static let reusedLength = 512 << 10
}

/// Runs tasks on an event loop.
final class EventLoopTaskExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
