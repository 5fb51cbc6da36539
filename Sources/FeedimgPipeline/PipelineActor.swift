import FeedimgSystem

/// Runs loads, the scheduler, the retry controller and the fact monitor on one thread, `feedimg-pipeline`.
///
/// Code on this actor needs no lock for pipeline state, and never waits for a file, a socket or a decoder.
/// All loaders of a process share the thread; each has its own state.
@globalActor package actor PipelineActor {
  package static let shared = PipelineActor()

  private nonisolated let executor = ThreadExecutor("feedimg-pipeline")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Starts a task on the actor's thread, which resumes there after each suspension.
  ///
  /// Without the executor preference (SE-0417), a task of the actor first resumes on the runtime's thread pool.
  /// Code that leaves the actor, such as a decoder, must name its executor, because child tasks inherit the
  /// preference.
  @discardableResult
  package static func task<Value: Sendable>(
    _ operation: @escaping @PipelineActor @Sendable () async -> Value
  ) -> Task<Value, Never> {
    Task(executorPreference: shared.executor) { await operation() }
  }
}
