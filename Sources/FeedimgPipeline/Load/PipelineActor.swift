import FeedimgSystem

/// Runs loads, the scheduler, the retry controller and the fact monitor on one thread, `feedimg-pipeline`.
///
/// What runs here needs no lock, and never waits for a file, a socket or a decoder. All loaders of a process share the
/// thread; each has its own state.
@globalActor package actor PipelineActor {
  package static let shared = PipelineActor()

  private nonisolated let executor = ThreadExecutor("feedimg-pipeline")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
