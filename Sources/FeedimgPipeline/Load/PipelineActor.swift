import FeedimgSystem

/// Runs loads, the scheduler, the retry controller and the fact monitor on one thread, `feedimg-pipeline`.
///
/// Code on this actor needs no lock for pipeline state, and never waits for a file, a socket or a decoder.
/// All loaders of a process share the thread; each has its own state.
@globalActor package actor PipelineActor {
  package static let shared = PipelineActor()

  private nonisolated let executor = ThreadExecutor("feedimg-pipeline")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
