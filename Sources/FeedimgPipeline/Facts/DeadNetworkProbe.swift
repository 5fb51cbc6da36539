import FeedimgSystem

/// Waits until a dead network may be probed.
@PipelineActor final class DeadNetworkProbe {
  private nonisolated let liveness: NetworkLiveness
  private nonisolated let time: MonotonicTime
  private(set) var task: Task<Void, Never>?

  nonisolated init(_ liveness: NetworkLiveness, _ time: MonotonicTime) {
    (self.liveness, self.time) = (liveness, time)
  }

  deinit { task?.cancel() }

  /// Calls `onDue` whenever a load may probe; does nothing while the network carries data.
  func start(onDue: @escaping @PipelineActor @Sendable () -> Void) {
    stop()
    guard let wait = liveness.nextProbe else { return }
    task = PipelineActor.task { [weak self, time] in
      guard (try? await time.sleep(wait)) != nil, !Task.isCancelled, let self else { return }
      // If the network is still offline, a load has probed it meanwhile and failed.
      if !liveness.isOffline { onDue() }
      // The last listener may have left.
      guard !Task.isCancelled else { return }
      start(onDue: onDue)
    }
  }

  func stop() {
    task?.cancel()
    task = nil
  }
}
