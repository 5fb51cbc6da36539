import FeedimgSystem

/// Looks for changes of the facts that no event reports, once a minute.
///
/// Kernel events about the battery would come sooner, but a charge takes minutes to change by a percent.
@PipelineActor final class FactPoller {
  private nonisolated let read: @Sendable () -> PolledFacts
  private nonisolated let time: MonotonicTime
  private var task: Task<Void, Never>?

  nonisolated init(_ read: @escaping @Sendable () -> PolledFacts, _ time: MonotonicTime) {
    (self.read, self.time) = (read, time)
  }

  deinit { task?.cancel() }

  /// Starts to poll, unless it polls or the facts cannot change a decision.
  func start(onChange: @escaping @PipelineActor @Sendable () -> Void) {
    guard task == nil else { return }
    let first = read()
    guard !first.isEmpty else { return }
    task = PipelineActor.task { [weak self, read, time] in
      var last = first
      while (try? await time.sleep(.seconds(60))) != nil, !Task.isCancelled {
        let now = read()
        if now != last { onChange() }
        last = now
      }
      if !Task.isCancelled { self?.task = nil }
    }
  }

  func stop() {
    task?.cancel()
    task = nil
  }
}
