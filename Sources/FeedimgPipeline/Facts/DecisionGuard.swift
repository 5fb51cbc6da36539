import FeedimgModel

/// Releases a load when its decision no longer holds.
///
/// For example, a load of an original ends when the network becomes dearer. It continues if other callers
/// still want it.
@PipelineActor final class DecisionGuard {
  private let factMonitor: FactMonitor
  private let handle: LoadHandle
  private let holds: @PipelineActor @Sendable () -> Bool
  private let release: @PipelineActor @Sendable () -> Void
  private var listener: Int?
  private var handleListener: Int?

  /// Begins to watch; calls `release` once, when `holds` returns false.
  ///
  /// `generation` is that of the facts before the decision; nil if changes were not reported then.
  init(
    _ factMonitor: FactMonitor,
    _ handle: LoadHandle,
    since generation: Int?,
    holds: @escaping @PipelineActor @Sendable () -> Bool,
    release: @escaping @PipelineActor @Sendable () -> Void
  ) {
    (self.factMonitor, self.handle, self.holds, self.release) = (factMonitor, handle, holds, release)
    listener = factMonitor.listen(priority: { handle.priority }, { [weak self] in self?.reconsider() })
    handleListener = handle.listen { [weak self, weak handle] in
      guard handle?.requestsOriginal == true else { return }
      Task { @PipelineActor in self?.reconsider() }
    }
    // This guard was not told of changes between the decision and this point.
    if handle.requestsOriginal || generation == nil || factMonitor.generation != generation {
      Task { @PipelineActor [weak self] in self?.reconsider() }
    }
  }

  func end() {
    listener.take().map(factMonitor.leave)
    handleListener.take().map(handle.forget)
  }

  private func reconsider() {
    guard listener != nil, !holds() else { return }
    end()
    release()
  }
}
