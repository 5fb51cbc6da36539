import FeedimgModel
package import FeedimgSystem

/// Runs loads, the scheduler, the retry controller and the fact monitor on one thread, `feedimg-pipeline`.
///
/// Code on this actor needs no lock for pipeline state, and never waits for the disk cache or a decoder. All
/// loaders of a process share the thread; each has its own state.
@globalActor package actor PipelineActor {
  package static let shared = PipelineActor()

  /// Also runs libcurl, whose callbacks write long bodies to their files, so that a transfer wakes one thread.
  package static let executor = ThreadExecutor("feedimg-pipeline")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

  /// Starts a task on the actor's thread, which resumes there after each suspension.
  ///
  /// Without the executor preference (SE-0417), a task of the actor first resumes on the runtime's thread pool.
  /// Code that leaves the actor, such as a decoder, must name its executor, because child tasks inherit the
  /// preference.
  @discardableResult
  package static func task<Value: Sendable>(
    _ operation: @escaping @PipelineActor @Sendable () async -> Value
  ) -> Task<Value, Never> {
    Task(executorPreference: executor) { await operation() }
  }
}

extension Promise {
  /// Starts a task that resolves a promise, and waits for the value.
  ///
  /// Cancelling the calling task cancels the started task.
  ///
  /// - Parameter work: Resolves the promise before it ends.
  /// - Returns: The value, and a closure that cancels the work.
  static func of<Success>(
    _ work: @escaping @Sendable (Promise) async -> Void
  ) async -> (first: Value, leave: @Sendable () -> Void) where Value == Result<Success, LoadError> {
    let promise = Promise()
    let task = PipelineActor.task { await work(promise) }
    let first = await withTaskCancellationHandler {
      await promise.value()
    } onCancel: {
      task.cancel()
    }
    return (
      first ?? .failure(LoadError(.cancelled, message: "the load was cancelled")), { task.cancel() }
    )
  }
}
