package import FeedimgModel
import Synchronization

/// Runs tasks on the thread that starts them: a fork has no other thread, and tests see each step.
package final class OwnExecutor: TaskExecutor, @unchecked Sendable {
  // Unchecked, because the thread that starts the tasks is also the one that runs them, in `run()`.
  private var jobs: [UnownedJob] = []
  private var rest: [@Sendable () -> Void] = []

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  /// Runs this work when no job is left.
  package func afterwards(_ work: @escaping @Sendable () -> Void) { rest.append(work) }

  /// Runs everything until nothing is left.
  package func run() {
    while !jobs.isEmpty || !rest.isEmpty {
      if jobs.isEmpty { rest.removeFirst()() } else { run(jobs.removeFirst()) }
    }
  }

  private func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

extension ImageWriting {
  /// Commits the image on this thread, in a transaction of its own.
  package func commit(_ metadata: ImageMetadata) throws(CacheError) -> StoredImage {
    let executor = OwnExecutor()
    let result = Mutex<Result<StoredImage, CacheError>?>(nil)
    Task(executorPreference: executor) {
      do throws(CacheError) {
        let stored = try await self.commit(metadata, executor.afterwards)
        result.withLock { $0 = .success(stored) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    executor.run()
    guard let result = result.withLock({ $0 }) else { preconditionFailure("the task has run") }
    return try result.get()
  }
}
